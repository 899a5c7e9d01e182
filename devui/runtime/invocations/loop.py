"""The loop: yield, commit, pass on, resume (runtime seed; adk-runtime 3.3, 10.4)."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from google.genai import types

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.hand_over import follow
from devui.runtime.agents.invocation_context import (
    INTERNAL_METADATA,
    InvocationContext,
    public_metadata,
)
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.apps.compaction import compact_by_invocations, compact_by_tokens
from devui.runtime.cancellation import not_cancelled
from devui.runtime.events.event import Event
from devui.runtime.invocations.aborts import abort_events
from devui.runtime.workflow.base_node import BaseNode
from devui.runtime.workflow.dynamic import root_events
from devui.runtime.workflow.node_run import only_says_that_a_node_ended

# Applies an event that a plugin returned in place of another (adk-runtime 3.3).


_OWN_FIELDS = frozenset({"id", "invocation_id", "timestamp"})


def replace_event(event: Event, replacement: Event) -> Event:
    """Return `event` with every field that was set on `replacement`.

    Id, invocation and time stay, as do the author if the replacement names none, and the
    runtime's own metadata.
    """
    if replacement is event:
        return event
    changes = {
        name: getattr(replacement, name) for name in replacement.model_fields_set - _OWN_FIELDS
    }
    if not replacement.author:
        changes.pop("author", None)
    internal = internal_metadata(event)
    if internal and "custom_metadata" in changes:
        changes["custom_metadata"] = {**(changes["custom_metadata"] or {}), **internal}
    return event.model_copy(update=changes)


def internal_metadata(event: Event) -> dict[str, Any]:
    """Return the runtime's own metadata of the event."""
    metadata = event.custom_metadata or {}
    return {key: value for key, value in metadata.items() if key.startswith(INTERNAL_METADATA)}


logger = logging.getLogger(__name__)


async def message_for(ctx: InvocationContext, message: types.Content) -> types.Content:
    """Return the user's message as changed by plugins; an error in one ends the run."""
    try:
        changed = await ctx.plugin_manager.run_on_user_message_callback(
            user_message=message, invocation_context=ctx
        )
    except Exception as error:
        await ctx.plugin_manager.run_on_run_error_callback(invocation_context=ctx, error=error)
        raise
    return message if changed is None else changed


async def run_with_hooks(ctx: InvocationContext, node: BaseNode) -> AsyncGenerator[Event, None]:
    """Run the root between the run's plugin hooks and yield each event after its commit.

    The after-run hook is called if the run ended normally, was aborted, or its caller left early;
    the error hook if it raised. A cancelled run calls neither.
    """
    try:
        async with aclosing(_committed_events(ctx, node)) as events:
            async for event in events:
                yield event
        await ctx.plugin_manager.run_after_run_callback(invocation_context=ctx)
        if not ctx.is_aborted:
            await _compact(ctx, _root(node))
    except GeneratorExit:
        await _leave(ctx, node)
        raise
    except asyncio.CancelledError as cancelled:
        mistake = not_cancelled("Code in the run, such as a callback,")
        if mistake is None:
            if ctx.is_aborted:
                await _leave(ctx, node)
            raise
        await ctx.plugin_manager.run_on_run_error_callback(invocation_context=ctx, error=mistake)
        raise mistake from cancelled
    except Exception as error:
        await ctx.plugin_manager.run_on_run_error_callback(invocation_context=ctx, error=error)
        await _seal_quietly(ctx, node)
        raise


async def _compact(ctx: InvocationContext, root: BaseNode) -> None:
    """Append a summary of old events, if the app's settings call for one (adk-runtime 3.8)."""
    if ctx.events_compaction_config is None:
        return
    llm = root.canonical_model if isinstance(root, LlmAgent) else None
    if not await compact_by_tokens(ctx, llm):
        await compact_by_invocations(ctx, llm)


async def _leave(ctx: InvocationContext, node: BaseNode) -> None:
    """End a run that nobody waits for."""
    await _seal_quietly(ctx, node)
    try:
        await ctx.plugin_manager.run_after_run_callback(invocation_context=ctx)
    except Exception:
        logger.exception("after_run_callback raised an exception after the caller stopped early.")


async def _committed_events(ctx: InvocationContext, node: BaseNode) -> AsyncGenerator[Event, None]:
    answer = await ctx.plugin_manager.run_before_run_callback(invocation_context=ctx)
    if isinstance(answer, types.Content):
        event = Event(invocation_id=ctx.invocation_id, author="model", content=answer)
        yield await _commit(ctx, event)
        return
    switch = ctx.abort_switch
    if not switch.is_set():
        # Below a root that is a workflow agent, agents have no place and continue to their next
        # event. Anything else in progress is cancelled.
        at_once = bool(ctx.node_path) or not isinstance(node, BaseAgent)
        async with aclosing(_events(ctx, node)) as events:
            with switch.over(events if at_once else None):
                async for event in events:
                    committed = await _commit(ctx, event)
                    if not only_says_that_a_node_ended(committed):
                        yield committed  # callers take the last event for the answer
                    if switch.stops():
                        break
    if switch.is_set():
        for event in await _sealed(ctx, node):
            yield event


async def _sealed(ctx: InvocationContext, node: BaseNode) -> list[Event]:
    """Commit and return the events that close an aborted invocation; none if it is closed."""
    if not ctx.abort_switch.seal():
        return []
    return [await _commit(ctx, event) for event in abort_events(ctx, _root(node).name)]


async def _seal_quietly(ctx: InvocationContext, node: BaseNode) -> None:
    try:
        await _sealed(ctx, node)
    except Exception:
        logger.exception("The aborted invocation %s could not be closed.", ctx.invocation_id)


def _events(ctx: InvocationContext, node: BaseNode) -> AsyncGenerator[Event, None]:
    return (
        follow(node, ctx, anew=ctx.resumed_at is None)
        if isinstance(node, BaseAgent)
        else root_events(ctx, node)
    )


def _root(node: BaseNode) -> BaseNode:
    return node.root_agent if isinstance(node, BaseAgent) else node


async def _commit(ctx: InvocationContext, event: Event) -> Event:
    """Label the event, let plugins replace it, and store it; return what was stored.

    A partial event is returned without being stored.
    """
    label(ctx, event)
    plugins = ctx.plugin_manager
    if plugins.has("on_event_callback"):
        noted = internal_metadata(event)
        replacement = await plugins.run_on_event_callback(invocation_context=ctx, event=event)
        if replacement is not None:
            event = replace_event(event, replacement)
            label(ctx, event)
        if noted:
            event.custom_metadata = {**noted, **(event.custom_metadata or {})}
    if not event.partial:
        event = ctx.in_order(event)
        await ctx.session_service.append_event(session=ctx.session, event=event)
    return event


def label(ctx: InvocationContext, event: Event) -> None:
    """Add the run's labels to the event; the event's own labels take precedence."""
    run = ctx.run_config
    if run is not None and run.custom_metadata:
        event.custom_metadata = {**public_metadata(run), **(event.custom_metadata or {})}
