"""What a model was asked otherwise than in another call, over HTTP."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.spans import SentRequest, request_and_answers
from devui.store.rows import SessionRow, SpanRow
from devui.web.api.debug import answer, number_in
from devui.web.errors import NotFound
from devui.web.parts.request import DiffBlock
from devui.web.presenters.promptdiff import prompt_diff
from devui.web.services import Services
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import session_of


async def show(request: Request) -> Response:
    """The request of a model call compared with that of `?with=SPAN`, else of the same agent's call
    before; blocks are aligned by what they say."""
    found, session = await session_of(request)
    span, after = await _asked(found, session, whole_number(request.path_params["span"]))
    other = number_in(request, "with")
    if other is None:
        previous = await found.journal.spans.model_call_before(span)
        if previous is None:
            raise NotFound(f"{span.agent} asked no model before span {span.id}")
        other = previous.id
    than, before = await _asked(found, session, other)
    diff = await asyncio.to_thread(prompt_diff, than, before, after)
    return answer(
        {
            "span": span.id,
            "event": span.event,
            "with": than.id,
            "withEvent": than.event,
            "verdict": diff.verdict,
            "blocks": [_block(each) for each in diff.blocks],
            "tools": [_block(each) for each in diff.tools],
            "config": [_block(each) for each in diff.config],
        }
    )


async def _asked(
    found: Services, session: SessionRow, span: int | None
) -> tuple[SpanRow, SentRequest]:
    """A model call with its request; raises NotFound."""
    row = await found.journal.spans.get(session.key, span) if span is not None else None
    is_asked = row is not None and row.type == "model"
    sent = (await request_and_answers(found.journal, row))[0] if row and is_asked else None
    if row is None or sent is None:
        raise NotFound(f"session {session.key} has no request to a model of span {span}")
    return row, sent


def _block(block: DiffBlock) -> dict[str, Any]:
    return {
        "kind": block.kind,
        "label": block.label,
        "breaks": block.breaks,
        "note": block.note,
        "pieces": [{"kind": kind, "text": text} for kind, text in block.pieces],
    }
