"""Sums up old events before a request would become too big (adk-runtime 3.8, 7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from devui.runtime.apps.compaction import compact_by_tokens
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.models.llm_request import LlmRequest


def _is_wanted(ctx: InvocationContext) -> bool:
    return ctx.events_compaction_config is not None


async def _prepare(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    if await compact_by_tokens(ctx, agent.canonical_model, agent=agent.name):
        ctx.token_compaction_checked = True


request_processor = compaction = RequestProcessor("compaction", prepare=_prepare, wanted=_is_wanted)
