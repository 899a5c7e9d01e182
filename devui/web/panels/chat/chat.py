"""The chat: its messages, the calls being streamed, and the menu of a user's message.

An event with nothing for a person to read has no message. Nor has a tool's response: it goes
into the chip of its call, which the page finds by the call's id. A person's answer is a message.

Gemini streams arguments as `partialArgs`, each with its path; other services send each call whole.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha1
from types import MappingProxyType
from typing import Any, Final

from devui.debugger.events.nodes import answers, name_of
from devui.debugger.events.summary import other_fields
from devui.debugger.questions.questions import HUMAN_CALLS, answered_once, question_of
from devui.debugger.questions.requesters import Requester
from devui.debugger.recovery.fork_maker import message_text
from devui.store.summaries import CallSummary, ResponseSummary, Summary
from devui.web.links import (
    answers_url,
    artifact_url,
    event_file_url,
    event_text_url,
    file_version_url,
    say_again_url,
    session_url,
)
from devui.web.panels.artifacts.saved import NO_FILES, SavedFiles, file_facts
from devui.web.panels.chat.content import (
    FileLink,
    around,
    as_markdown,
    attachment,
    other_part,
    response_files,
    spoken_parts,
    text_part,
)
from devui.web.panels.chat.content_parts import FilePart, OutputPart, TextPart
from devui.web.panels.chat.parts import (
    AnswerLine,
    ArtifactChip,
    ChatMessage,
    ChatPart,
    RunNote,
    ToolChip,
    ToolOutcome,
)
from devui.web.panels.chat.previews import MEDIA, OPENS_IN_BROWSER
from devui.web.panels.chat.sources import texts_with_marks
from devui.web.panels.hold.interventions import hint
from devui.web.panels.questions.parts import Ask, QuestionFields
from devui.web.panels.questions.questions import CREDENTIAL, form_of, sign_in_link
from devui.web.panels.recovery.parts import RerunButton
from devui.web.text.deceptive_characters import readable, visible
from devui.web.text.formats import clipped
from devui.wire.events import NOTHING, USER, Event, Fields, Part, fields_in

_KINDS: Final = ("numberValue", "boolValue", "nullValue")


@dataclass(slots=True)
class StreamedCalls:
    """Formats the calls in a streamed response, part by part."""

    complete: str = ""
    """The name of the call that the last part completed; "" if it completed none."""
    _open: str = ""
    """The name of the unfinished call."""
    _path: str = ""
    """The path of the last argument written."""
    _in_quotes: bool = False
    """Whether that argument is an unfinished string."""

    def write(self, part: Part) -> str:
        """Return the text that this part adds; "" if it isn't a call."""
        self.complete = ""
        if part.call is None:
            return ""
        call = part.call.fields
        going = bool(call.get("willContinue"))
        if part.call.name and not self._open:
            self._open, self._path = part.call.name, ""
            text = f"{self._open}("
        else:
            text = ""
        if call.get("args"):
            text += json.dumps(call["args"], ensure_ascii=False)
        for argument in call.get("partialArgs") or []:
            text += self._argument(fields_in(argument))
        return text if going else text + self._end()

    def _argument(self, partial: Mapping[str, Any]) -> str:
        path = str(partial.get("jsonPath") or "").removeprefix("$").removeprefix(".")
        begins = path != self._path
        text = self._close() + (", " if self._path else "") + f"{path}: " if begins else ""
        self._path = path
        if partial.get("stringValue") is not None:
            piece = json.dumps(str(partial["stringValue"]), ensure_ascii=False)[1:-1]
            text += piece if self._in_quotes else f'"{piece}'
            self._in_quotes = True
            return text if partial.get("willContinue") else text + self._close()
        kind = next((name for name in _KINDS if name in partial), None)
        value = None if kind in {None, "nullValue"} else partial[kind or ""]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return text + (json.dumps(value) if kind else "")

    def _close(self) -> str:
        quoted, self._in_quotes = self._in_quotes, False
        return '"' if quoted else ""

    def _end(self) -> str:
        text = self._close() + ")"
        self.complete, self._open = self._open, ""
        return text


def say_again(number: int, event: Event, session: int) -> RerunButton | None:
    """Return what opens the menu of a message; None if there is no text to send again."""
    return (
        None if message_text(event) is None else RerunButton(number, say_again_url(session, number))
    )


TRANSFER = "transfer_to_agent"
"""The framework's own tool; the chat shows the transfer instead of the call."""
_NOBODY: Mapping[str, Requester] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CallAnswers:
    """What events say about calls, including calls from other events or runs."""

    outcomes: Mapping[str, ToolOutcome] = field(default_factory=dict)
    """The outcomes, by the slots of their calls."""
    calls: frozenset[tuple[str | None, int]] = frozenset()
    """The ids of calls that a person answered or that were made again, and in which event."""
    results: Mapping[str, Fields] = field(default_factory=dict)
    """The latest response to each call, by its id; only from events with a body."""

    @classmethod
    def of(
        cls, events: Iterable[tuple[int, str | None, Summary, Event | None]], session: int
    ) -> "CallAnswers":
        """Collect the answers in events, given with number and author, the oldest first."""
        outcomes: dict[str, ToolOutcome] = {}
        calls: set[tuple[str | None, int]] = set()
        results: dict[str, Fields] = {}
        for number, author, summary, event in events:
            outcomes |= {o.slot: o for o in tool_outcomes(number, summary, session=session)}
            calls |= {(each.id, number) for each in answers_in(author, summary)}
            calls |= {(call.id, number) for call in summary.calls}
            results |= (
                {each.id: each.result for each in event.responses if each.id} if event else {}
            )
        return cls(outcomes, frozenset(calls), results)


def chat_message(
    number: int,
    event: Event,
    summary: Summary,
    *,
    session: int,
    previous_author: str | None = None,
    askers: Mapping[str, Requester] = _NOBODY,
    saved_files: SavedFiles = NO_FILES,
    results: Mapping[str, Fields] = NOTHING,
) -> ChatMessage | None:
    """Return the message for one event, or None if there is nothing to read in it.

    `previous_author` is the author of the previous message, if that was an agent's. `askers` maps
    call ids to whatever needs the answer, `results` to the latest response.
    """
    author = visible(event.author)
    href = session_url(session, event=number)
    same = author == previous_author
    edit_hint = hint(summary)
    file = partial(event_file_url, session, number)
    text_href = event_text_url(session, number) if as_markdown(event) else ""
    message = ChatMessage(
        number, "agent", author, (), href, continued=same, edit_hint=edit_hint, text_href=text_href
    )
    if summary.kind == "error":
        return replace(
            message,
            role="error",
            attempt=summary.attempt,
            code=visible(str(event.error_code or "")),
            text=visible(clipped(str(event.error_message or ""))),
            parts=(*spoken_parts(event.content, markdown=True, file=file), *around(event)),
        )
    if event.rewinds_before:
        return replace(message, role="signal", text="Rewound to an earlier message")
    if summary.kind == "user":
        again = say_again(number, event, session)
        content = spoken_parts(event.content, markdown=False, file=file, saved=event.artifact_delta)
        saved = _artifacts(number, event, session, saved_files)
        return replace(message, role="user", parts=(*content, *saved, *around(event)), again=again)
    if event.author == USER and summary.responses:
        lines = (_answer_line(each, askers.get(each.id or "")) for each in summary.responses)
        files = _response_files(event, file)
        content = spoken_parts(event.content, markdown=False, file=file)
        return replace(message, role="user", parts=(*lines, *files, *content, *around(event)))
    parts = (
        *_parts(number, event, summary, session, askers, results),
        *_artifacts(number, event, session, saved_files),
        *around(event),
    )
    if not parts:
        signal = _signal(author, summary)
        return replace(message, role="signal", text=signal) if signal else None
    return replace(message, parts=parts)


def conversation(
    events: Sequence[tuple[int, Event, Summary]],
    *,
    session: int,
    previous_author: str | None = None,
    going_on: int | None = None,
    askers: Mapping[str, Requester] = _NOBODY,
    saved_files: SavedFiles = NO_FILES,
    call_answers: CallAnswers | None = None,
    cut: str | None = None,
) -> tuple[ChatMessage, ...]:
    """Return the messages for a window of events, each tool chip with its outcome.

    `previous_author` is the author of the message before the window, if that was an agent's. From
    event `going_on` on, the run is in progress and may still bring results. Earlier calls without a
    result in `call_answers` are shown as having none; so are all such calls if `going_on` is None.
    `call_answers` defaults to those in the events themselves. `cut` is the invocation that a fork
    cut off in the middle.
    """
    if call_answers is None:
        call_answers = CallAnswers.of(((n, e.author, s, e) for n, e, s in events), session)
    messages: list[ChatMessage] = []
    speaker = previous_author
    for number, event, summary in events:
        message = chat_message(
            number,
            event,
            summary,
            session=session,
            previous_author=speaker,
            askers=askers,
            saved_files=saved_files,
            results=call_answers.results,
        )
        if message is not None:
            messages.append(message)
            speaker = spoken_by(message)
    messages = [_without_forms(message, call_answers.calls) for message in messages]
    lost_outcomes = {
        slot: lost_outcome(slot, forked=cut is not None and event.invocation_id == cut)
        for number, event, summary in events
        for slot in open_slots(number, summary)
        if going_on is None or number < going_on
    }
    return tuple(
        _with_outcomes(message, {**lost_outcomes, **call_answers.outcomes}) for message in messages
    )


def markdown_texts(messages: Iterable[ChatMessage | RunNote]) -> Iterator[str]:
    """Yield the Markdown texts in the messages."""
    for message in messages:
        if isinstance(message, ChatMessage):
            texts = (part for part in message.parts if isinstance(part, TextPart))
            yield from (part.text for part in texts if part.markdown)
        else:
            yield from (answer.text for answer in message.unfinished)


def spoken_by(message: ChatMessage) -> str | None:
    """Return the author that the next message would continue; None after a user's message or a
    signal."""
    return message.author if message.role in ("agent", "error") else None


def tool_outcomes(number: int, summary: Summary, *, session: int) -> tuple[ToolOutcome, ...]:
    """Return the outcomes that the event's tool responses bring to the chips of their calls.

    A call that was made again has no outcome there: the chat shows it after the failure, where it
    was made again.
    """
    return tuple(
        lost_outcome(_slot(response.id))
        if response.attempt
        else _outcome(number, response, summary, session)
        for response in summary.responses
        if response.id
    )


def _outcome(number: int, response: ResponseSummary, summary: Summary, session: int) -> ToolOutcome:
    return ToolOutcome(
        slot=_slot(response.id),
        status="failed" if response.failed else "done",
        text=visible(response.preview),
        href=session_url(session, event=number),
        edit_hint=hint(summary, response.id),
        ran=visible(_args_of_edit(summary, response.id or "")),
        number=number,
        attempt=response.attempt,
    )


def _args_of_edit(summary: Summary, call: str) -> str:
    return next((edit.ran for edit in summary.edits if edit.ran and edit.call == call), "")


def answers_in(author: str | None, summary: Summary) -> tuple[ResponseSummary, ...]:
    """Return the answers in this event to questions that can be answered only once."""
    answers = summary.responses if author == USER else ()
    return tuple(answer for answer in answers if answered_once(answer.name))


def _without_forms(
    message: ChatMessage, answers: AbstractSet[tuple[str | None, int]]
) -> ChatMessage:
    """Return the message without forms whose question was answered or asked again later."""
    parts = tuple(
        replace(part, ask=None)
        if isinstance(part, ToolChip)
        and part.ask
        and any(call == part.ask.call and number > part.ask.event for call, number in answers)
        else part
        for part in message.parts
    )
    return replace(message, parts=parts)


def open_slots(number: int, summary: Summary) -> tuple[str, ...]:
    """Return the slots of the event's calls that need a result from the same run."""
    calls = enumerate(summary.calls)
    return tuple(_slot_of(call, number, place) for place, call in calls if not call.long_running)


def lost_outcome(slot: str, *, forked: bool = False) -> ToolOutcome:
    """Return the outcome of a call whose run ended, or was forked, before its result."""
    why = "no result before the fork" if forked else "no result"
    return ToolOutcome(slot, "lost", why)


def _parts(
    number: int,
    event: Event,
    summary: Summary,
    session: int,
    askers: Mapping[str, Requester],
    results: Mapping[str, Fields],
) -> tuple[ChatPart, ...]:
    calls = iter(enumerate(summary.calls))
    file = partial(event_file_url, session, number)
    texts = texts_with_marks(event)
    parts: list[ChatPart] = []
    for place, part in enumerate(event.parts):
        if part.call:
            position, call = next(calls)
            if call.name != TRANSFER:
                question = call.about or question_of(part.call)
                chip = _chip(number, position, call, question, session)
                who = who_asks(event.author, askers.get(call.id or ""))
                latest = results.get(call.id or "")
                form = ask_form(number, call, part.call.args, session, who=who, latest=latest)
                parts.append(replace(chip, ask=form))
        elif part.response:
            parts += (
                _repeated_call(number, each, summary, session)
                for each in summary.responses
                if each.attempt and each.id == part.response.id
            )
            parts += response_files(part.response, place, file)
        elif text := text_part(part, markdown=True, clean=readable, text=texts.get(place)):
            parts.append(text)
        elif piece := attachment(part, place, file):
            parts.append(piece)
        elif other := other_part(other_fields(part)):
            parts.append(other)
    if summary.kind == "result" and summary.final:
        parts += _results(event)
    if answers(event):
        parts.append(_answer(event, summary))
    return tuple(parts)


def _answer_line(answer: ResponseSummary, asker: Requester | None) -> AnswerLine:
    """Return the line for a person's answer; of a credential, it says only that one was given."""
    tool = visible(asker.name) if asker else ""
    if answer.name == CREDENTIAL:
        return AnswerLine("Provided a credential" + (" for" if tool else ""), tool, "")
    if answer.verdict:
        payload = answer.preview.removeprefix(answer.verdict).strip()
        return AnswerLine(answer.verdict.capitalize(), tool, visible(payload.removeprefix("with ")))
    name = tool or ("" if answer.name in HUMAN_CALLS else visible(answer.name))
    return AnswerLine("Answered", name, visible(answer.preview))


def _response_files(event: Event, file: FileLink) -> Iterator[FilePart]:
    for place, part in enumerate(event.parts):
        if part.response:
            yield from response_files(part.response, place, file)


def _results(event: Event) -> Iterable[ChatPart]:
    """Yield the results that are themselves the answer, since no model summarizes them (seed:
    events).

    A response that only says that a call waits for a person isn't a result.
    """
    for response in event.responses:
        if response.id in event.confirmations or response.id in event.credentials:
            continue
        text = json.dumps(response.value, indent=2, ensure_ascii=False)
        yield OutputPart(visible(response.name), visible(clipped(text)))


def _answer(event: Event, summary: Summary) -> OutputPart:
    """Return the final output of a workflow."""
    output = event.output
    text = output if isinstance(output, str) else json.dumps(output, indent=2, ensure_ascii=False)
    return OutputPart(visible(name_of(summary.node)), visible(clipped(text)))


def _artifacts(
    number: int, event: Event, session: int, saved_files: SavedFiles
) -> Iterable[ArtifactChip]:
    for name, version in event.artifact_delta.items():
        href = artifact_url(session, name, version)
        mime, size = file_facts(saved_files, name, version)
        yield ArtifactChip(
            visible(name),
            version,
            href,
            mime=visible(mime),
            size=size,
            tab_href=file_version_url(session, name, version, event=number),
            is_picture=MEDIA.get(mime) == "picture",
            opens=mime in OPENS_IN_BROWSER,
        )


def _signal(author: str, summary: Summary) -> str:
    if summary.transfer_to:
        return f"{author} → {visible(summary.transfer_to)}"
    return f"{author} left the loop" if summary.escalate else ""


def _chip(number: int, position: int, call: CallSummary, question: str, session: int) -> ToolChip:
    waiting = call.long_running
    asks = HUMAN_CALLS.get(call.name)
    return ToolChip(
        name=asks or visible(call.name),
        args=visible(question if asks else call.args),
        href=session_url(session, event=number),
        outcome=ToolOutcome(
            slot=_slot_of(call, number, position),
            status="waiting" if waiting else "running",
            text="waiting" if waiting else "no result yet",
        ),
        asks=asks is not None,
    )


def _repeated_call(
    number: int, response: ResponseSummary, summary: Summary, session: int
) -> ToolChip:
    """Return the chip of a call that was made again after it had failed, with its outcome."""
    outcome = _outcome(number, response, summary, session)
    return ToolChip(
        name=visible(response.name),
        args=visible(response.args),
        href=session_url(session, event=number),
        outcome=replace(outcome, slot=f"{outcome.slot}-{response.attempt}"),
    )


def who_asks(agent: str, asker: Requester | None) -> str:
    """Return who needs an answer, as the beginning of a sentence."""
    return visible(f"The {asker.kind} {asker.name} of {agent}" if asker else agent)


def ask_form(
    number: int,
    call: CallSummary,
    args: Mapping[str, Any],
    session: int,
    *,
    who: str,
    latest: Fields | None = None,
) -> Ask | None:
    """Return the form for a call that a person answers, or None for other calls.

    `who` needs the answer; `latest` is the latest response.
    """
    if not call.long_running or not call.id:
        return None
    form = form_of(call.name, args, who, latest)
    return Ask(
        slot=ask_slot(call.id),
        action=answers_url(session),
        event=number,
        call=call.id,
        hint=readable(clipped(form.hint)),
        about=readable(clipped(form.about)),
        fields=form.fields,
        choices=form.choices,
        link=sign_in_link(args) if call.name == CREDENTIAL else "",
    )


def updated_fields(event: Event, long_running: AbstractSet[str | None]) -> Iterator[QuestionFields]:
    """Yield the new initial fields for the forms of the calls that the event responds to.

    A person can respond only to long-running calls; for other authors, `long_running` has the ids
    of such calls.
    """
    for response in event.responses:
        is_updated = event.author == USER or response.id in long_running
        if response.id and is_updated and not answered_once(response.name):
            fields = form_of(response.name, NOTHING, "", response.result).fields
            yield QuestionFields(ask_slot(response.id), fields)


def ask_slot(call_id: str) -> str:
    """Return the id of the element with a question's form."""
    return _slot(call_id).replace("t-", "a-", 1)


def _with_outcomes(message: ChatMessage, outcomes: Mapping[str, ToolOutcome]) -> ChatMessage:
    if not any(isinstance(part, ToolChip) for part in message.parts):
        return message
    parts = (
        replace(part, outcome=outcomes.get(part.outcome.slot, part.outcome))
        if isinstance(part, ToolChip)
        else part
        for part in message.parts
    )
    return replace(message, parts=tuple(parts))


def _slot_of(call: CallSummary, number: int, position: int) -> str:
    return _slot(call.id) if call.id else f"t-{number}-{position}"


def _slot(call_id: str | None) -> str:
    digest = sha1((call_id or "").encode("utf-8", "replace"), usedforsecurity=False)
    return "t-" + digest.hexdigest()[:12]
