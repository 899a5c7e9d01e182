"""A model's answer, before callbacks, plugins and planners turned it into an event."""

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from devui.debugger.background.slices import PIECE, SLICE
from devui.store.journal import Journal
from devui.store.rows import EventRow
from devui.store.summaries import OF_MODELS
from devui.web.panels.request.parts import DiffBlock, ModelAnswer
from devui.web.panels.request.prompt_diff import around, as_text, body_of
from devui.web.text.worddiff import Change, word_diff
from devui.wire.events import Event, fields_in

_BY_CODE: Final = "A callback, plugin, or planner changed this answer."
_BY_HAND: Final = "This answer was edited before it was committed."
_COMPARED: Final = 500_000
"""Maximum characters compared word by word; a longer text is shown as replaced."""
_DECODER: Final = json.JSONDecoder()
_START: Final = re.compile(r"[^\s,\]]")
"""The start of a list's next member."""


def answers_in(text: str) -> Iterator[Any]:
    """Yield the answers of a model call from their JSON, `[seconds, response]` each.

    They are decoded one by one: the decoder blocks all other threads until it returns, and a
    streamed answer has thousands of chunks.
    """
    place = text.find("[") + 1
    while start := _START.search(text, place):
        answer, place = _DECODER.raw_decode(text, start.start())
        yield answer


def whole_answers(answers: Iterable[Any]) -> list[Event]:
    """Return the complete responses of pairs `[seconds, response]`, without streamed chunks."""
    responses = (fields_in(response) for _, response in answers)
    return [Event.of(each) for each in responses if not each.get("partial")]


def model_answer(
    answers: Sequence[Any], stored: tuple[EventRow, Event] | None
) -> ModelAnswer | None:
    """Return the answer as received, and how its event differs from it; None if there is neither an
    answer nor a substitute."""
    whole = whole_answers(answers)
    bodies = tuple(body for each in whole if (body := body_of(each.content.fields)).parts)
    if stored is None or not is_changed(whole, *stored):
        return ModelAnswer(bodies, None) if bodies else None
    row, event = stored
    difference = _difference(whole[0], event, row.number)
    return ModelAnswer(bodies, difference, by=_BY_HAND if row.summary.edited else _BY_CODE)


async def differs_from_answer(journal: Journal, row: EventRow, event: Event) -> bool:
    """Return whether the event's content differs from the answer of its model."""
    if row.summary.edited or not _is_of_model(row):
        return False
    spans = await journal.spans.of_event(row.session, row.number)
    models = [span for span in spans if span.type == "model"]
    if not models:
        return False
    _, result, _ = await journal.spans.bodies(models[-1])
    text = result or "[]"

    def compare() -> bool:
        return is_changed(whole_answers(answers_in(text)), row, event)

    is_large = len(text) + row.size > SLICE
    return await asyncio.to_thread(compare) if is_large else compare()


def _is_of_model(row: EventRow) -> bool:
    return row.author != "user" and row.summary.kind in OF_MODELS


def is_changed(answers: Sequence[Event], row: EventRow, event: Event) -> bool:
    """Return whether the event's content differs from the single answer it was made from.

    Ids that the runtime gives to calls don't count, nor does how texts are split into parts: code
    executors and planners change both.
    """
    if len(answers) != 1 or not _is_of_model(row):
        return False
    if any(part.code or part.code_result for part in event.parts):
        return False
    return _words_and_calls(answers[0]) != _words_and_calls(event)


def _words_and_calls(event: Event) -> tuple[str, list[tuple[str, Mapping[str, Any]]]]:
    text = "".join(part.text for part in event.parts)
    pieces = (text[start : start + PIECE] for start in range(0, len(text), PIECE))
    words = "".join("".join(piece.split()) for piece in pieces)
    return words, [(call.name, call.args) for call in event.calls]


def _difference(answer: Event, event: Event, number: int) -> DiffBlock:
    before, after = _text(answer), _text(event)
    changes: Sequence[tuple[Change, str]] = (("removed", before), ("added", after))
    if max(len(before), len(after)) <= _COMPARED:
        changes = word_diff(before, after)
    pieces = tuple(around(changes))
    return DiffBlock("changed", f"model's answer → event #{number}", pieces)


def _text(event: Event) -> str:
    parts = [_without_id(part.fields) for part in event.parts]
    return as_text({"parts": parts})


def _without_id(part: Mapping[str, Any]) -> Mapping[str, Any]:
    call = fields_in(part.get("functionCall"))
    if not call:
        return part
    return {"functionCall": {key: value for key, value in call.items() if key != "id"}}
