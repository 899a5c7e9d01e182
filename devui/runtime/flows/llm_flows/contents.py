"""The conversation of a request: the session's history as this agent may see it.

See adk-runtime 7.3.
"""

from __future__ import annotations

from itertools import repeat
from operator import is_
from typing import TYPE_CHECKING

from devui.runtime.agents.llm_agent_node import gives_one_answer
from devui.runtime.agents.tasks import asked
from devui.runtime.flows.llm_flows.excerpts import CurrentTurn, InLine, OwnRun
from devui.runtime.flows.llm_flows.history import History
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.flows.llm_flows.visibility import View
from devui.runtime.sessions.latest_sessions import LatestSessions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest


class Contents:
    """Fills a request's contents, and keeps the histories of the latest sessions for the next."""

    def __init__(self) -> None:
        self._kept = LatestSessions()

    async def prepare(self, ctx: InvocationContext, llm_request: LlmRequest) -> None:
        """Put the history before what is in the request, and that before the user's last turn."""
        view = _view(ctx)
        contents = self._shown(ctx, view)
        contents[:0] = _task(ctx, view)
        context = ctx.run_config.model_input_context if ctx.run_config else None
        if context:
            _insert_before(ctx.user_content, contents, context)
        llm_request.put_history(contents)

    def _shown(self, ctx: InvocationContext, view: View) -> list[types.Content]:
        events = ctx.session.events
        if gives_one_answer(ctx):
            return self._of_one_answer(ctx, view)
        if agent_of(ctx).include_contents == "none":
            view = view._replace(foreign_thoughts=False)  # as in ADK
            return self._kept.of(ctx.session, view, CurrentTurn, view).contents(events)
        history = self._kept.of(ctx.session, view, History, view)
        begin = _task_begins(ctx, view)
        # The session's own list, which grows, and is known again without a look into it.
        return history.contents(events[begin:] if begin else events)

    def _of_one_answer(self, ctx: InvocationContext, view: View) -> list[types.Content]:
        """What an agent that answers once was asked, and what it did since.

        Before that comes the conversation around it, if it is told to include it (adk-runtime 7.3).
        """
        agent, path = agent_of(ctx), ctx.node_path or ""
        made = ctx.history.unsettled.get((view.branch or "").rpartition("@")[2])
        own = self._kept.of(ctx.session, (view, path), OwnRun, view, path)
        since = own.contents(ctx.history.events, made.index if made else 0)
        before: list[types.Content] = []
        if "include_contents" in agent.model_fields_set and agent.include_contents == "default":
            around = view._replace(branch=None)  # each call of the agent has a branch of its own
            line = self._kept.of(ctx.session, (around, path), InLine, around, path)
            before = line.contents(ctx.session.events, own.events, view.branch)
        message = ctx.user_content
        if message is None or any(map(is_, reversed(before), repeat(message))):
            return [*before, *since]  # a node without input
        return [*before, message, *since]


def contents() -> RequestProcessor:
    """A contents processor for one flow."""
    return RequestProcessor("contents", prepare=Contents().prepare)


request_processor = contents()
"""For flows of one's own, which may share it."""


def _get_contents(
    current_branch: str | None,
    events: Sequence[Event],
    agent_name: str = "",
    *,
    isolation_scope: str | None = None,
    include_thoughts_from_other_agents: bool = False,
) -> list[types.Content]:
    """The contents of these events as an agent sees them: google-adk's name, for code that uses it.

    Args:
        current_branch: Where the agent is at work.
        events: Those of the session.
        agent_name: Whose events are its own words.
        isolation_scope: The task that it carries out.
        include_thoughts_from_other_agents: Whether those are shown.
    """
    view = View(agent_name, current_branch, isolation_scope, include_thoughts_from_other_agents)
    return History(view).contents(events)


def _view(ctx: InvocationContext) -> View:
    thoughts = ctx.run_config.include_thoughts_from_other_agents if ctx.run_config else False
    agent = agent_of(ctx)
    # Nobody has given the root its task: that stands in what the user said, outside of the task.
    scope = ctx.isolation_scope
    is_root = scope is not None and scope == f"{agent.name}@1"
    return View(agent.name, ctx.branch, scope, thoughts, whole_session=is_root)


def _task_begins(ctx: InvocationContext, view: View) -> int:
    """Where in the session a task begins that was given by a call; else all may be seen."""
    if view.scope is None or not (view.branch or "").endswith(f"@{view.scope}"):
        return 0
    made = ctx.history.unsettled.get(view.scope)
    return ctx.history.begins_at if made is None else made.place


def _task(ctx: InvocationContext, view: View) -> list[types.Content]:
    """The task of an agent that the conversation, as it sees it, does not tell."""
    if ctx.isolation_scope is None or view.whole_session:
        return []
    if gives_one_answer(ctx):
        return []  # it is in the contents already
    made = ctx.history.unsettled.get(ctx.isolation_scope)
    for call in made.event.get_function_calls() if made else ():
        if call.id == ctx.isolation_scope:
            return [asked(call)]
    return [ctx.user_content] if ctx.user_content else []  # a node of a graph is not called


def _insert_before(
    message: types.Content | None, contents: list[types.Content], added: list[types.Content]
) -> None:
    """Put contents before the message; before everything if it is not there."""
    places = range(len(contents) - 1, -1, -1) if message else ()
    start = next((index for index in places if contents[index] == message), 0)
    contents[start:start] = added
