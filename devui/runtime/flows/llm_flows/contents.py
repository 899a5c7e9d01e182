"""The conversation of a request: the session's history as this agent may see it.

See adk-runtime 7.3.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from devui.runtime.agents.invocation_events import with_answers
from devui.runtime.agents.llm_agent_node import gives_one_answer
from devui.runtime.agents.node_paths import is_in_line
from devui.runtime.agents.tasks import asked
from devui.runtime.events.rewinds import live_events_backwards
from devui.runtime.flows.llm_flows.history import History
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.flows.llm_flows.visibility import USER, View, is_visible

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest

_HISTORIES_KEPT = 8
_TRANSFER = "transfer_to_agent"

_Key = tuple[str, str, str, View]


class Contents:
    """Fills a request's contents, and keeps the histories of the latest sessions for the next."""

    def __init__(self) -> None:
        self._histories: OrderedDict[_Key, History] = OrderedDict()

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
        agent = agent_of(ctx)
        if gives_one_answer(ctx):
            return self._of_one_answer(ctx, view)
        if agent.include_contents == "none":
            return History(view).contents(_without_past(_current_turn(events, view)))
        return self._history(ctx, view).contents(events[_task_begins(ctx, view) :])

    def _of_one_answer(self, ctx: InvocationContext, view: View) -> list[types.Content]:
        """What an agent that answers once was asked, and what it did since.

        Before that comes the conversation, if it is told to include it: what was said above it and
        in earlier runs of the same place, nothing of its neighbours (adk-runtime 7.3).
        """
        here = (ctx.node_path or "", ctx.branch)
        own, _ = with_answers(ctx.history.events, lambda e: (e.node_info.path, e.branch) == here)
        agent = agent_of(ctx)
        before: list[types.Content] = []
        if "include_contents" in agent.model_fields_set and agent.include_contents == "default":
            ids, path = set(map(id, own)), ctx.node_path
            others = (event for event in ctx.session.events if id(event) not in ids)
            seen = [event for event in others if is_in_line(event.node_info.path, path)]
            before = self._history(ctx, view).contents(seen)
        message = ctx.user_content
        if message is None or any(message is content for content in before):
            return [*before, *History(view).contents(own)]  # a node without input
        return [*before, message, *History(view).contents(own)]

    def _history(self, ctx: InvocationContext, view: View) -> History:
        key = (ctx.app_name, ctx.user_id, ctx.session.id, view)
        history = self._histories.get(key)
        if history is None:
            history = self._histories[key] = History(view)
        self._histories.move_to_end(key)
        if len(self._histories) > _HISTORIES_KEPT:
            self._histories.popitem(last=False)
        return history


def contents() -> RequestProcessor:
    """A contents processor for one flow."""
    return RequestProcessor("contents", prepare=Contents().prepare)


request_processor = contents()
"""For flows of one's own, which may share it."""


def _view(ctx: InvocationContext) -> View:
    thoughts = ctx.run_config.include_thoughts_from_other_agents if ctx.run_config else False
    agent = agent_of(ctx)
    # Nobody has given the root its task: that stands in what the user said, outside of the task.
    is_root = ctx.isolation_scope == f"{agent.name}@1"
    return View(agent.name, ctx.branch, ctx.isolation_scope, thoughts, whole_session=is_root)


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


def _current_turn(events: Sequence[Event], view: View) -> list[Event]:
    """The events from the one on that the agent is to answer (`include_contents="none"`).

    The user may answer a call after other turns: then the one goes on in which it was made.
    """
    turn: list[Event] = []
    uncalled: set[str | None] = set()
    """What the user answers in the turn, and nobody has called in it."""
    latest: int | None = None
    """How many events there are from the latest on that may start a turn."""
    for event in live_events_backwards(events):
        turn.append(event)
        uncalled.difference_update(call.id for call in event.get_function_calls())
        if event.author == USER:
            uncalled.update(response.id for response in event.get_function_responses())
        if event.author != view.agent and is_visible(event, view) and _starts_turn(event):
            latest = latest or len(turn)
            if not uncalled:
                return turn[::-1]
    return turn[:latest][::-1]


def _without_past(turn: Sequence[Event]) -> list[Event]:
    """The events of a turn without summaries of what was before it."""
    return [
        event
        for event in turn
        if (summary := event.actions.compaction) is None
        or summary.end_timestamp >= turn[0].timestamp
    ]


def _starts_turn(event: Event) -> bool:
    """Whether the event says something new; transfers and tool results only continue a turn."""
    if event.author == USER:
        return not event.get_function_responses()
    names = {call.name for call in event.get_function_calls()}
    names.update(response.name for response in event.get_function_responses())
    return _TRANSFER not in names


def _insert_before(
    message: types.Content | None, contents: list[types.Content], added: list[types.Content]
) -> None:
    """Put contents before the message; before everything if it is not there."""
    places = range(len(contents) - 1, -1, -1) if message else ()
    start = next((index for index in places if contents[index] == message), 0)
    contents[start:start] = added
