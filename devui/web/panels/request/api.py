"""The differences between two model requests, over HTTP."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.events.spans import SentRequest, request_and_answers
from devui.store.rows import SessionRow, SpanRow
from devui.web.errors import NotFound
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Query, operation
from devui.web.panels.request.parts import DiffBlock, Difference
from devui.web.panels.request.prompt_diff import prompt_diff
from devui.web.panels.runs.api import number_in
from devui.web.services import Services
from devui.web.text.numbers import whole_number


class PromptPieceJson(TypedDict):
    """A piece of text, and whether it is new."""

    kind: Difference
    text: str


class PromptBlockJson(TypedDict):
    """Equal blocks in a row, or one that differs."""

    kind: Difference
    label: str
    """The block's label, such as `12 unchanged messages` or `user #3`."""
    breaksCache: bool
    """Whether nothing from here on can come from a provider's cache."""
    note: str
    pieces: list[PromptPieceJson]


_With = TypedDict("_With", {"with": int, "withEvent": int | None})


class PromptDiffJson(_With):
    """How one model request differs from another."""

    span: int
    event: int | None
    verdict: str
    """The prefix that a provider may still have in its cache."""
    blocks: list[PromptBlockJson]
    tools: list[PromptBlockJson]
    config: list[PromptBlockJson]


@operation(
    PromptDiffJson,
    query={
        "with": Query(
            int, "The id of the span to compare with; by default the agent's previous call"
        )
    },
    refusals=(400,),
)
async def show(request: Request) -> Response:
    """Compare two model requests.

    Shows how [what was sent](debugging.md#what-was-sent) to a model differs. Blocks are aligned by
    their text; `breaksCache` marks where the cached prefix ends.
    """
    services, session = await session_of(request)
    span, after = await _model_call(services, session, whole_number(request.path_params["span"]))
    other = number_in(request, "with")
    if other is None:
        previous = await services.journal.spans.model_call_before(span)
        if previous is None:
            raise NotFound(
                f"this is the first model call of {span.agent}: there is no earlier prompt to"
                " compare with"
            )
        other = previous.id
    than, before = await _model_call(services, session, other)
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


async def _model_call(
    services: Services, session: SessionRow, span: int | None
) -> tuple[SpanRow, SentRequest]:
    """Return a model call with its request; raises NotFound."""
    row = await services.journal.spans.get(session.key, span) if span is not None else None
    is_asked = row is not None and row.type == "model"
    body = (await request_and_answers(services.journal, row))[0] if row and is_asked else None
    if row is None or body is None:
        raise NotFound(f"session {session.key} has no model request for span {span}")
    return row, body


def _block(block: DiffBlock) -> PromptBlockJson:
    return {
        "kind": block.kind,
        "label": block.label,
        "breaksCache": block.breaks_cache,
        "note": block.note,
        "pieces": [{"kind": kind, "text": text} for kind, text in block.pieces],
    }
