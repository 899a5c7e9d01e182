"""The Request tab: what was sent to a model or tools, and the answer chunk by chunk."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from statistics import median
from typing import Any, Final

from devui.debugger.background.slices import beside
from devui.debugger.events.preview import one_line
from devui.debugger.events.spans import SentRequest, request_and_answers, sent_and_result
from devui.debugger.events.usage import usage_of
from devui.debugger.history.paths import Path
from devui.debugger.secrets.fragments import clean_answers
from devui.store.rows import EventRow, SessionRow, SpanRow
from devui.store.summaries import Usage
from devui.web.basic_parts import Fact
from devui.web.links import (
    again_url,
    block_file_url,
    block_url,
    event_value_url,
    raw_request_url,
    session_url,
    span_api_url,
    try_call_url,
)
from devui.web.panels.chat.chat import StreamedCalls
from devui.web.panels.chat.content import FileLink, InlineFile, inline_file
from devui.web.panels.inspector.parts import Hint
from devui.web.panels.request.answer import answers_in, model_answer
from devui.web.panels.request.parts import (
    Block,
    BlockBody,
    DiffForm,
    ModelAnswer,
    OtherCall,
    RawRequest,
    RequestPanel,
    Share,
    ShareBar,
    StreamChart,
    StreamedPiece,
    ToolCallItem,
    ToolCallsPanel,
)
from devui.web.panels.request.prompt_diff import (
    PREVIEW,
    BlockText,
    blocks_of,
    body_of,
    declarations,
    event_of,
    prompt_diff,
    tool_shown,
)
from devui.web.services import Services
from devui.web.text import formats
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import plural
from devui.web.text.jsontree import Rest, json_size, json_text, json_tree
from devui.wire.events import Event, fields_in

MOST: Final = 2_000
"""Maximum number of chunks to step through."""
_STALL: Final = 1.0
"""Seconds without a chunk from which a gap may be a stall."""
_LONGER: Final = 5
"""A stall is at least this many times as long as the median gap."""

_Piece = tuple[float, str, str]


def streamed_answer(answers: Sequence[Any]) -> StreamChart | None:
    """Return the chunks of an answer, from `[seconds, response]` each; None if it came at once."""
    responses = [(float(at), Event.of(fields_in(response))) for at, response in answers]
    partial = [(at, each) for at, each in responses if each.is_partial]
    pieces = list(_pieces(partial[:MOST]))
    if not pieces:
        return None
    final = next((_text(each) for _, each in reversed(responses) if not each.is_partial), None)
    whole = "".join(_text(each) for _, each in partial)
    times = [at for at, _, _ in pieces]
    span = max(times[-1], 1e-6)
    stalls = _stalls(times)
    return StreamChart(
        pieces=tuple(
            StreamedPiece(visible(text), note, round(_WIDE * at / span, 1))
            for (at, text, _), note in zip(pieces, _piece_notes(pieces), strict=True)
        ),
        ticks="".join(f"M{_WIDE * at / span:.1f} 3v14" for at in times),
        stalls=tuple(
            (round(_WIDE * a / span, 1), round(_WIDE * (b - a) / span, 1)) for a, b in stalls
        ),
        summary=_stream_summary(times, stalls),
        differs=final is not None and final.strip() != whole.strip(),
    )


def _text(response: Event) -> str:
    return "".join(part.text for part in response.parts)


def _pieces(partial: Sequence[tuple[float, Event]]) -> Iterator[_Piece]:
    """Yield each chunk's time and text, and the call whose arguments it completes."""
    calls = StreamedCalls()
    for at, response in partial:
        text, whole = "", ""
        for part in response.parts:
            text += part.text or calls.write(part)
            whole = calls.complete or whole
        yield at, text, whole


def _stalls(times: Sequence[float]) -> list[tuple[float, float]]:
    gaps = [b - a for a, b in pairwise(times)]
    usual = median(gaps) if gaps else 0.0
    return [(a, b) for a, b in pairwise(times) if b - a >= max(_STALL, _LONGER * usual)]


def _piece_notes(pieces: Sequence[_Piece]) -> Iterator[str]:
    """Yield when each chunk arrived, how long after the previous one, and its length."""
    before: float | None = None
    for at, text, whole in pieces:
        gap = (
            "" if before is None else f", {formats.duration(at - before)} after the previous chunk"
        )
        ends = f"; the arguments of {whole} are complete" if whole else ""
        yield f"{formats.duration(at)}{gap}, {plural(len(text), 'character')}{ends}"
        before = at


def _stream_summary(times: Sequence[float], stalls: Sequence[tuple[float, float]]) -> str:
    longest = max((b - a for a, b in pairwise(times)), default=0.0)
    summary = f"{plural(len(times), 'chunk')}, the first after {formats.duration(times[0])}"
    summary += f", longest gap {formats.duration(longest)}"
    return summary + (f", {plural(len(stalls), 'stall')}" if stalls else "")


HEAVY: Final = 32 * 1024
"""Characters of a request above which it is read and rendered in another thread."""
CALLS: Final = 300
"""Maximum number of calls to choose from: the newest of the session."""
PREVIOUS: Final = 0
"""In place of a span's id: the previous call of the same agent."""
_AT_ONCE: Final = 60_000
"""Characters that are sent with the panel; blocks beyond load when they are unfolded."""
_UNFOLDED: Final = 2_000
"""Maximum characters of a block that is shown unfolded."""
_WIDE: Final = 1000.0
_KIND_LABELS: Final = {
    **{kind: kind for kind in ("system", "tools", "user", "model", "other")},
    "result": "tool results",
}
"""Kinds of blocks with a color, with their names in the legend."""
_DENSE: Final = 40
"""With more shares than this, the lines between them are thinner."""
_SENT: Final = (
    "As sent by the runtime, after all callbacks. The provider's SDK may still change it."
)
_LAST: Final = "The last model call{}, as sent by the runtime. Select an event to see its request."
_HELD: Final = (
    "Held before the model call and not sent yet. The agent's callbacks may still change it."
)


async def request_panel(
    services: Services, session: SessionRow, row: EventRow | None, against: int | None
) -> RequestPanel | ToolCallsPanel | Hint:
    """Return the requests behind the selected event; `against` names the call to compare with."""
    if row is None:
        return await _newest(services, session, against)
    spans = await services.journal.spans.of_event(session.key, row.number)
    models = [span for span in spans if span.type == "model"]
    if models:
        return await _model_call(services, session, row, models[-1], against)
    if spans:
        sent = [await sent_and_result(services.journal, span) for span in spans]
        body = await services.journal.events.body(session.key, row.number)
        place = (session.key, row.number)

        def build() -> ToolCallsPanel:
            calls = (
                _tool(place, span, *each, _rest_of(body, span.call, each[1]))
                for span, each in zip(spans, sent, strict=True)
            )
            return ToolCallsPanel(row.number, tuple(calls))

        return await beside([value for each in sent for value in each], build)
    return _nothing(row)


async def _newest(
    services: Services, session: SessionRow, against: int | None
) -> RequestPanel | Hint:
    """Return the request held before its model call, or else that of the last call."""
    live = services.runs.live(session.key)
    for hold in live.stepper.holds if live else ():
        if hold.arrival.gate == "before_model":
            request, agent = SentRequest.at_gate(hold.arrival.payload), hold.arrival.agent
            return await asyncio.to_thread(_panel, None, request, agent=agent, note=_HELD)
    calls = await services.journal.spans.model_calls(session.key, limit=1)
    if calls:
        return await _model_call(services, session, None, calls[0], against)
    text = "The prompt of the last model call appears here, as it was sent."
    return Hint("No model has been called", text, ask="request-ask")


async def raw_request(services: Services, span: SpanRow) -> RawRequest:
    """Return the whole request as JSON."""
    request, _ = await request_and_answers(services.journal, span)
    if request is None:
        return RawRequest(json_text(None))
    return RawRequest(await asyncio.to_thread(lambda: json_text(request.as_json())))


async def block_body(services: Services, span: SpanRow, position: int) -> BlockBody | None:
    """Return the block at this position of a request, from 0; None if there is none."""
    request, _ = await request_and_answers(services.journal, span)
    if request is None:
        return None
    blocks = await asyncio.to_thread(blocks_of, request)
    if position >= len(blocks):
        return None
    return body_of(blocks[position].value, _file_link(span, position))


async def block_file(
    services: Services, span: SpanRow, position: int, path: Path
) -> InlineFile | None:
    """Return the file at a path in a block of a request; None if there is none."""
    request, _ = await request_and_answers(services.journal, span)
    blocks = await asyncio.to_thread(blocks_of, request) if request else []
    if position >= len(blocks):
        return None
    return await asyncio.to_thread(inline_file, event_of(blocks[position].value), path)


def _file_link(span: SpanRow, position: int) -> FileLink:
    return partial(block_file_url, span.session, span.id, position)


def _nothing(row: EventRow) -> Hint:
    if row.author == "user":
        return Hint("Nothing was sent", "User messages aren't produced by a model call.")
    text = (
        "No model or tool call is recorded for this event: a callback answered instead, "
        "the agent's own code produced it, or it predates the recording."
    )
    return Hint("Nothing was sent for this event", text)


def _rest_of(body: tuple[EventRow, Event] | None, call: str | None, result: Any) -> Rest | None:
    """Return the link to a tool's whole result in its event; None if a callback changed it."""
    if body is None:
        return None
    row, event = body
    for place, part in enumerate(event.parts):
        if part.response is None or part.response.id != call:
            continue
        path: Path = ("content", "parts", place, "functionResponse", "response")
        if part.response.value != result:
            path = (*path, "result")
            if part.response.result.get("result") != result:
                return None
        return lambda within, at: event_value_url(row.session, row.number, (*path, *within), at)
    return None


def _tool(
    place: tuple[int, int], span: SpanRow, args: Any, result: Any, rest: Rest | None
) -> ToolCallItem:
    """Return a tool call; `place` is the key of the session and the number of the event."""
    has_result = result is not None and not span.error and span.seconds is not None
    return ToolCallItem(
        name=visible(span.name),
        id=visible(span.call or ""),
        duration=formats.duration(span.seconds) if span.seconds is not None else "",
        args=None if args is None else json_tree(args),
        args_size=json_size(args),
        result=json_tree(result, rest=rest) if has_result else None,
        result_size=json_size(result) if has_result else "",
        error=visible(span.error or ""),
        try_href=try_call_url(*place, span.call) if span.call else "",
    )


async def _model_call(
    services: Services,
    session: SessionRow,
    row: EventRow | None,
    span: SpanRow,
    against: int | None,
) -> RequestPanel | Hint:
    """Return a call, as that of the selected event or as the last one."""
    request, answers = await request_and_answers(services.journal, span)
    if request is None:
        return Hint(
            "The request was not recorded",
            "It was too large to record, or the received trace doesn't include it.",
        )
    previous = await services.journal.spans.model_call_before(span)
    others = await services.journal.spans.model_calls(span.session, limit=CALLS)
    other = previous if against == PREVIOUS else next((s for s in others if s.id == against), None)
    form = _form(session.key, row, span, previous, others, against if other else None)
    than = await request_and_answers(services.journal, other) if other else (None, None)
    trials = len(await services.journal.trials.list(session.key, span=span.id))
    number = row.number if row else span.event
    body = await services.journal.events.body(session.key, number) if number else None
    redactor, text = services.view.redactor(), answers or "[]"

    def build() -> RequestPanel:
        responses = list(answers_in(text))
        answer = model_answer(responses, body)
        clean_answers(responses, redactor)
        return _panel(
            span,
            request,
            responses,
            answer,
            agent=span.agent,
            note=_SENT if row else _LAST.format(f", of event #{span.event}" if span.event else ""),
            form=form,
            than=(other, than[0]),
            trials=trials,
        )

    weight = len(request) + (len(than[0]) if than[0] else 0) + len(text)
    return await asyncio.to_thread(build) if weight > HEAVY else build()


def _panel(
    span: SpanRow | None,
    request: SentRequest,
    answers: Sequence[Any] = (),
    answer: ModelAnswer | None = None,
    *,
    agent: str,
    note: str,
    form: DiffForm | None = None,
    than: tuple[SpanRow | None, SentRequest | None] = (None, None),
    trials: int = 0,
) -> RequestPanel:
    """Return a call's panel; without a span, that of a request held before its call."""
    texts = blocks_of(request)
    usage = _usage(answers)
    tools = json.loads(request.tools.text) if request.tools else []
    sizes = [len(each.text) for each in texts]
    tokens = _estimate(usage, sum(sizes) + (len(request.tools.text) if request.tools else 0))
    blocks = _blocks(span, texts, tokens)
    system = blocks[0] if request.system else None
    diff = prompt_diff(than[0], than[1], request) if than[0] and than[1] else None
    return RequestPanel(
        model=visible(request.model or (span.name if span else "")),
        agent=visible(agent),
        note=note,
        facts=tuple(_facts(span, usage, request, sum(sizes))),
        error=visible(span.error or "") if span else "",
        form=form,
        diff=diff,
        bar=_bar(
            _shares(texts, request, tokens),
            usage,
            _bar_title(usage) if span else "estimated from characters",
        ),
        system=system,
        messages=tuple(blocks[1:] if system else blocks),
        tools=tuple(
            tool_shown(f"tool-{span.id if span else 'held'}-{i}", declaration)
            for i, declaration in enumerate(declarations(tools))
        ),
        config=json_tree(json.loads(request.config.text)) if request.config else None,
        answer=answer,
        streamed=streamed_answer(answers),
        raw_href=raw_request_url(span.session, span.id) if span else "",
        json_href=span_api_url(span.session, span.id) if span else "",
        again_href=again_url(span.session, span.id) if span else "",
        is_newest=form is None or form.event is None,
        trial_note=f"sent {plural(trials, 'time')}" if trials else "",
    )


def _usage(answers: Sequence[Any]) -> Usage | None:
    """Return the token counts of the model's last response that has any."""
    responses = (Event.of(fields_in(each)) for _, each in reversed(answers))
    return next((usage for each in responses if (usage := usage_of(each))), None)


def _estimate(usage: Usage | None, characters: int) -> float | None:
    """Return the tokens per character; None if unknown."""
    return usage.prompt / characters if usage and usage.prompt and characters else None


def _blocks(span: SpanRow | None, texts: list[BlockText], tokens: float | None) -> list[Block]:
    total, blocks = 0, []
    for position, each in enumerate(texts):
        total += len(each.text)
        at_once = span is None or total <= _AT_ONCE or len(each.text) <= PREVIEW
        newest = position == len(texts) - 1
        link = _file_link(span, position) if span else None
        blocks.append(
            Block(
                dom_id=f"block-{span.id if span else 'held'}-{position}",
                kind=visible(each.kind),
                role=visible(each.role),
                place=each.place,
                preview=visible(one_line(each.text, PREVIEW)),
                size=_size(len(each.text), tokens),
                body=body_of(each.value, link) if at_once else None,
                href=block_url(span.session, span.id, position) if span and not at_once else "",
                open=at_once and len(each.text) <= _UNFOLDED and (newest or not each.place),
            )
        )
    return blocks


def _size(characters: int, tokens: float | None) -> str:
    about = f" · ≈{formats.group_digits(round(characters * tokens))} tokens" if tokens else ""
    return f"{formats.group_digits(characters)} chars{about}"


def _bar(shares: tuple[Share, ...], usage: Usage | None, title: str) -> ShareBar:
    kinds = dict.fromkeys(share.kind for share in shares)
    return ShareBar(
        shares,
        title,
        kinds=tuple((kind, _KIND_LABELS[kind]) for kind in kinds),
        cached=round(_WIDE * usage.cached / usage.prompt, 2) if usage and usage.prompt else 0.0,
        is_dense=len(shares) > _DENSE,
    )


def _shares(
    texts: list[BlockText], request: SentRequest, tokens: float | None
) -> tuple[Share, ...]:
    """Return blocks and tools in the order in which providers cache them."""
    tools = [("tools", len(request.tools.text))] if request.tools else []
    pieces = [(f"{each.kind} {each.place}".strip(), len(each.text)) for each in texts]
    head = 1 if request.system else 0
    parts = [*pieces[:head], *tools, *pieces[head:]]
    kinds = [each.kind for each in texts]
    kinds = [*kinds[:head], *("tools" for _ in tools), *kinds[head:]]
    total = sum(size for _, size in parts) or 1
    starts = accumulate((size for _, size in parts), initial=0)
    return tuple(
        Share(
            kind=kind if kind in _KIND_LABELS else "other",
            x=round(_WIDE * start / total, 2),
            width=round(_WIDE * size / total, 2),
            title=visible(f"{name}: {100 * size / total:.1f}%, {_size(size, tokens)}"),
        )
        for kind, (name, size), start in zip(kinds, parts, starts, strict=False)
        if size
    )


def _bar_title(usage: Usage | None) -> str:
    if usage is None:
        return "estimated from characters; the model reported no token count"
    title = f"{formats.group_digits(usage.prompt)} prompt tokens; shares are estimated"
    return title + " from characters, without files"


def _facts(
    span: SpanRow | None, usage: Usage | None, request: SentRequest, characters: int
) -> list[Fact]:
    facts = [Fact("messages", f"{len(request.contents):,}")]
    if usage:
        cached = f"{formats.group_digits(usage.cached)} of them cached" if usage.cached else ""
        facts.append(Fact("prompt tokens", formats.group_digits(usage.prompt), hint=cached))
    facts.append(Fact("characters", formats.group_digits(characters), hint="without tools"))
    if span and span.seconds is not None:
        first = request.stream and span.first is not None and span.first < span.seconds
        hint = f"first chunk after {formats.duration(span.first or 0)}" if first else ""
        facts.append(Fact("duration", formats.duration(span.seconds), hint=hint))
    return facts


def _form(
    session: int,
    row: EventRow | None,
    span: SpanRow,
    previous: SpanRow | None,
    others: Sequence[SpanRow],
    other: int | None,
) -> DiffForm:
    options = [OtherCall("", "nothing", other is None)]
    if previous:
        label = f"previous call of {visible(span.agent)}{_of(previous)}"
        options.append(OtherCall(str(PREVIOUS), label, other == PREVIOUS))
    options += [
        OtherCall(str(each.id), f"{visible(each.agent)}{_of(each)}", other == each.id)
        for each in others
        if each.id != span.id
    ]
    return DiffForm(session_url(session), row.number if row else None, tuple(options))


def _of(span: SpanRow) -> str:
    return f", #{span.event}" if span.event else f", {plural(span.number, 'span')} in"
