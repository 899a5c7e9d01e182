"""Sums up old events when a run has ended (adk-runtime 3.8)."""

from devui.runtime.agents.invocation_context import InvocationContext
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.apps.compaction import compact_by_invocations, compact_by_tokens
from devui.runtime.workflow.base_node import BaseNode


async def compact_after_run(ctx: InvocationContext, root: BaseNode) -> None:
    """Append a summary to the history, if the app's settings call for one."""
    if ctx.events_compaction_config is None:
        return
    llm = root.canonical_model if isinstance(root, LlmAgent) else None
    if not await compact_by_tokens(ctx, llm):
        await compact_by_invocations(ctx, llm)
