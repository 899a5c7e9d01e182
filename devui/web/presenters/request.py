"""The inspector's tab of what was sent: a model's prompt, or the arguments of tools."""

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Final

from devui.debugger.fragments import clean_answers
from devui.debugger.preview import one_line
from devui.debugger.spans import SentRequest, request_and_answers, sent_and_result
from devui.debugger.usage import usage_of
from devui.store.rows import EventRow, SessionRow, SpanRow, Usage
from devui.web.links import (
    again_url,
    block_url,
    raw_request_url,
    session_url,
    span_api_url,
    try_call_url,
)
from devui.web.parts import every as parts
from devui.web.presenters.blocks import (
    PREVIEW,
    Said,
    blocks_of,
    body_of,
    declarations,
    tool_shown,
)
from devui.web.presenters.content import mapping
from devui.web.presenters.promptdiff import prompt_diff
from devui.web.presenters.streamed import streamed_answer
from devui.web.services import Services
from devui.web.text import formats
from devui.web.text.figures import plural
from devui.web.text.jsontext import json_text
from devui.web.text.jsontree import json_tree
from devui.web.text.visible import visible

HEAVY: Final = 32 * 1024
"""Characters of what was sent from which on it is read and shown on another thread."""
CALLS: Final = 300
"""How many calls there are to choose from, the newest of the session."""
PREVIOUS: Final = 0
"""In place of a span's id: the call of the same agent before this one."""
_AT_ONCE: Final = 60_000
"""Characters that come along with the panel; what is beyond is asked for when it is unfolded."""
_UNFOLDED: Final = 2_000
"""Characters of a block that is shown unfolded."""
_WIDE: Final = 1000.0


async def request_panel(
    found: Services, session: SessionRow, row: EventRow | None, against: int | None
) -> parts.RequestPanel | parts.ToolCallsPanel | parts.Hint:
    """What the selected event came of; `against` names the call to compare with."""
    if row is None:
        text = "Choose an event that a model answered, to see the prompt as it was sent."
        return parts.Hint("No event is selected", text)
    spans = await found.journal.spans.of_event(session.key, row.number)
    models = [span for span in spans if span.type == "model"]
    if models:
        return await _model_call(found, row, models[-1], against)
    if spans:
        told = [await sent_and_result(found.journal, span) for span in spans]
        calls = tuple(
            _tool((session.key, row.number), span, *each)
            for span, each in zip(spans, told, strict=True)
        )
        return parts.ToolCallsPanel(row.number, calls)
    return _nothing(row)


async def raw_request(found: Services, span: SpanRow) -> parts.RawRequest:
    """The whole request as JSON."""
    request, _ = await request_and_answers(found.journal, span)
    if request is None:
        return parts.RawRequest(json_text(None))
    return parts.RawRequest(await asyncio.to_thread(lambda: json_text(request.parsed())))


async def block_body(found: Services, span: SpanRow, position: int) -> parts.BlockBody | None:
    """One block of a request, from 0; None if there is none."""
    request, _ = await request_and_answers(found.journal, span)
    if request is None:
        return None
    said = await asyncio.to_thread(blocks_of, request)
    return body_of(said[position].value) if position < len(said) else None


def _nothing(row: EventRow) -> parts.Hint:
    if row.author == "user":
        return parts.Hint("Nothing was sent", "A user's message comes of no call of a model.")
    text = (
        "No call of a model or a tool is on record for this event: a callback answered in its "
        "place, the agent's own code made it, or it is older than the recording."
    )
    return parts.Hint("Nothing was sent for this event", text)


def _tool(place: tuple[int, int], span: SpanRow, args: Any, result: Any) -> parts.ToolSent:
    """`place` is the session and the number of the event."""
    over = span.seconds is not None
    return parts.ToolSent(
        name=visible(span.name),
        id=visible(span.call or ""),
        took=formats.duration(span.seconds) if span.seconds is not None else "",
        args=None if args is None else json_tree(args),
        result=json_tree(result) if over and span.error is None else None,
        error=visible(span.error or ""),
        try_href=try_call_url(*place, span.call) if span.call else "",
    )


async def _model_call(
    found: Services, row: EventRow, span: SpanRow, against: int | None
) -> parts.RequestPanel | parts.Hint:
    request, answers = await request_and_answers(found.journal, span)
    if request is None:
        return parts.Hint("The request was not kept", "It was too large to be told.")
    previous = await found.journal.spans.model_call_before(span)
    others = await found.journal.spans.model_calls(span.session, limit=CALLS)
    other = previous if against == PREVIOUS else next((s for s in others if s.id == against), None)
    form = _form(row, span, previous, others, against if other else None)
    than = await request_and_answers(found.journal, other) if other else (None, None)
    tried = len(await found.journal.trials.list(row.session, span=span.id))
    told = json.loads(answers or "[]")
    clean_answers(told, found.veil.redactor())
    build = partial(_panel, span, request, told, form=form, than=(other, than[0]), tried=tried)
    weight = len(request) + (len(than[0]) if than[0] else 0)
    return await asyncio.to_thread(build) if weight > HEAVY else build()


def _panel(
    span: SpanRow,
    request: SentRequest,
    answers: Sequence[Any],
    *,
    form: parts.DiffForm,
    than: tuple[SpanRow | None, SentRequest | None],
    tried: int,
) -> parts.RequestPanel:
    said = blocks_of(request)
    usage = _usage(answers)
    tools = json.loads(request.tools.text) if request.tools else []
    sizes = [len(each.text) for each in said]
    tokens = _estimate(usage, sum(sizes) + (len(request.tools.text) if request.tools else 0))
    blocks = _blocks(span, said, tokens)
    system = blocks[0] if request.system else None
    diff = prompt_diff(than[0], than[1], request) if than[0] and than[1] else None
    cached = _WIDE * usage.cached / usage.prompt if usage and usage.prompt else 0.0
    return parts.RequestPanel(
        model=visible(request.model or span.name),
        agent=visible(span.agent),
        facts=tuple(_facts(span, usage, request, sum(sizes))),
        error=visible(span.error or ""),
        form=form,
        diff=diff,
        bar=_bar(said, request, tokens),
        cached=cached,
        bar_title=_bar_title(usage),
        system=system,
        messages=tuple(blocks[1:] if system else blocks),
        tools=tuple(
            tool_shown(f"tool-{span.id}-{i}", told) for i, told in enumerate(declarations(tools))
        ),
        config=json_tree(json.loads(request.config.text)) if request.config else None,
        streamed=streamed_answer(answers),
        raw_href=raw_request_url(span.session, span.id),
        json_href=span_api_url(span.session, span.id),
        again_href=again_url(span.session, span.id),
        tried=f"asked {plural(tried, 'time')}" if tried else "",
    )


def _usage(answers: Sequence[Any]) -> Usage | None:
    """What the model counted, as its last response says."""
    return next((u for _, each in reversed(answers) if (u := usage_of(mapping(each)))), None)


def _estimate(usage: Usage | None, characters: int) -> float | None:
    """Tokens a character, as far as that is known."""
    return usage.prompt / characters if usage and usage.prompt and characters else None


def _blocks(span: SpanRow, said: list[Said], tokens: float | None) -> list[parts.Block]:
    total, shown = 0, []
    for position, each in enumerate(said):
        total += len(each.text)
        at_once = total <= _AT_ONCE or len(each.text) <= PREVIEW
        newest = position == len(said) - 1
        shown.append(
            parts.Block(
                dom_id=f"block-{span.id}-{position}",
                role=visible(each.role),
                place=each.place,
                preview=visible(one_line(each.text, PREVIEW)),
                size=_size(len(each.text), tokens),
                body=body_of(each.value) if at_once else None,
                href="" if at_once else block_url(span.session, span.id, position),
                open=at_once and len(each.text) <= _UNFOLDED and (newest or not each.place),
            )
        )
    return shown


def _size(characters: int, tokens: float | None) -> str:
    about = f" · ≈{formats.grouped(round(characters * tokens))} tokens" if tokens else ""
    return f"{formats.grouped(characters)} chars{about}"


def _bar(said: list[Said], request: SentRequest, tokens: float | None) -> tuple[parts.Share, ...]:
    """Blocks and tools in the order in which providers take them for their cache."""
    tools = [("tools", len(request.tools.text))] if request.tools else []
    named = [(f"{each.role} {each.place}".strip(), len(each.text)) for each in said]
    head = 1 if request.system else 0
    parted = [*named[:head], *tools, *named[head:]]
    roles = [each.role for each in said]
    kinds = [*roles[:head], *("tools" for _ in tools), *roles[head:]]
    total = sum(size for _, size in parted) or 1
    starts = accumulate((size for _, size in parted), initial=0)
    return tuple(
        parts.Share(
            kind=kind if kind in {"system", "tools", "user", "model"} else "other",
            x=round(_WIDE * start / total, 2),
            width=round(_WIDE * size / total, 2),
            title=visible(f"{name}: {100 * size / total:.1f} %, {_size(size, tokens)}"),
        )
        for kind, (name, size), start in zip(kinds, parted, starts, strict=False)
        if size
    )


def _bar_title(usage: Usage | None) -> str:
    if usage is None:
        return "shares by characters; the model did not count its tokens"
    told = f"{formats.grouped(usage.prompt)} tokens were counted; shares are estimated"
    return told + " by characters, files not among them"


def _facts(
    span: SpanRow, usage: Usage | None, request: SentRequest, characters: int
) -> list[parts.Fact]:
    facts = [parts.Fact("messages", f"{len(request.contents):,}")]
    if usage:
        cached = f"{formats.grouped(usage.cached)} of them cached" if usage.cached else ""
        facts.append(parts.Fact("prompt tokens", formats.grouped(usage.prompt), hint=cached))
    facts.append(parts.Fact("characters", formats.grouped(characters), hint="without the tools"))
    if span.seconds is not None:
        first = request.stream and span.first is not None and span.first < span.seconds
        hint = f"first piece after {formats.duration(span.first or 0)}" if first else ""
        facts.append(parts.Fact("took", formats.duration(span.seconds), hint=hint))
    return facts


def _form(
    row: EventRow,
    span: SpanRow,
    previous: SpanRow | None,
    others: Sequence[SpanRow],
    chosen: int | None,
) -> parts.DiffForm:
    options = [parts.OtherCall("", "no other call", chosen is None)]
    if previous:
        label = f"previous call of {visible(span.agent)}{_of(previous)}"
        options.append(parts.OtherCall(str(PREVIOUS), label, chosen == PREVIOUS))
    options += [
        parts.OtherCall(str(each.id), f"{visible(each.agent)}{_of(each)}", chosen == each.id)
        for each in others
        if each.id != span.id
    ]
    return parts.DiffForm(session_url(row.session), row.number, tuple(options))


def _of(span: SpanRow) -> str:
    return f", #{span.event}" if span.event else f", {plural(span.number, 'span')} in"
