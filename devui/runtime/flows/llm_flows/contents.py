"""The conversation of a request: the session's history as this agent may see it.

See adk-runtime 7.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from operator import is_
from typing import TYPE_CHECKING

from devui.runtime.agents.agent_runs import task_content
from devui.runtime.agents.agent_tree import is_in_line
from devui.runtime.agents.llm_agent_turn import gives_one_answer
from devui.runtime.events.growing_events import GrowingEvents
from devui.runtime.events.rewinds import live_events_backwards
from devui.runtime.flows.llm_flows.history import History
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.flows.llm_flows.visibility import USER, View, is_visible
from devui.runtime.sessions.latest_sessions import LatestSessions
from devui.runtime.tools.control_tools import transfer_to_agent

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest


# Excerpts of a session for agents that do not see all of it (adk-runtime 7.3).
#
# They grow at their ends as the session does, so each event is read once.


class CurrentTurn:
    """The current turn, from the event that the agent is to answer (`include_contents="none"`)."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._history = History(view)
        self._turn: list[Event] = []
        self._events: Sequence[Event] = ()
        self._count = 0
        """How many of the events have been read."""

    def __len__(self) -> int:
        return self._count

    def contents(self, events: Sequence[Event]) -> list[types.Content]:
        """Return the contents of the current turn."""
        new = events[self._count :]
        is_same = events is self._events and len(events) >= self._count
        if is_same and all(map(self._goes_on, new)):
            self._turn += new
        else:
            self._turn = _without_past(_current_turn(events, self._view))
        self._events, self._count = events, len(events)
        return self._history.contents(self._turn)

    def _goes_on(self, event: Event) -> bool:
        """Return whether the event continues the turn; the agent's own events never start one."""
        actions = event.actions
        return (
            event.author == self._view.agent
            and actions.rewind_before_invocation_id is None
            and actions.compaction is None
        )


class OwnRunContents:
    """The events of an agent that answers once, and the answers to its calls."""

    def __init__(self, view: View, path: str) -> None:
        self._place = path, view.branch
        self._history = History(view)
        self.events: list[Event] = []
        self._calls: set[str | None] = set()
        self._events: Sequence[Event] = ()
        self._count = 0
        """How many of the events have been read."""

    def __len__(self) -> int:
        return self._count

    def contents(self, events: Sequence[Event], start: int) -> list[types.Content]:
        """Return the contents of the run, found in its invocation's `events` from `start` on."""
        if events is not self._events:
            self.events, self._calls, self._events, self._count = [], set(), events, start
        for event in events[self._count :]:
            if (event.node_info.path, event.branch) == self._place:
                self._calls.update([call.id for call in event.get_function_calls()])
                self.events.append(event)
            elif self._calls and any(
                each.id in self._calls for each in event.get_function_responses()
            ):
                self.events.append(event)
        self._count = len(events)
        return self._history.contents(self.events)


class InlineContents:
    """The conversation around an agent that answers once.

    It holds what was said above the agent and in earlier runs at the same place, and nothing from
    the agent's neighbors.
    """

    def __init__(self, view: View, path: str) -> None:
        self._path = path
        self._history = History(view)
        self._view_events: list[Event] = []
        self._looked_at = GrowingEvents()
        self._own: Sequence[Event] = ()
        self._own_count = 0
        """How many of the agent's own events have been left out."""
        self._before: tuple[int, int] | None = None
        """How many events were read, and how many were visible, before the first one left out."""

    def __len__(self) -> int:
        return self._looked_at.count

    def contents(
        self, events: Sequence[Event], own: Sequence[Event], branch: str | None
    ) -> list[types.Content]:
        """Return the contents visible from the branch, without those of the agent's own run."""
        if not self._goes_on(events, own):
            self._go_back((0, 0))
        self._own = own
        if not self._take(events, own):  # a run continues that began before the last one
            self._go_back((0, 0))
            self._take(events, own)
        self._history.look_from(branch)
        return self._history.contents(self._view_events)

    def _goes_on(self, events: Sequence[Event], own: Sequence[Event]) -> bool:
        """Return whether the events read so far are unchanged, perhaps with more after them."""
        if own is not self._own:  # another run, which sees the events of the last one
            self._go_back(self._before or (len(self), len(self._view_events)))
        return len(own) >= self._own_count and self._looked_at.goes_on(events)

    def _go_back(self, place: tuple[int, int]) -> None:
        count, length = place
        self._looked_at.go_back(count)
        self._view_events = self._view_events[:length]
        self._own_count, self._before = 0, None

    def _take(self, events: Sequence[Event], own: Sequence[Event]) -> bool:
        """Read the new events; return whether they include all new ones of the agent's own."""
        left_out = set(map(id, own[self._own_count :]))
        self._own_count = len(own)
        for place, event in enumerate(self._looked_at.new(events), len(self)):
            if id(event) in left_out:
                left_out.remove(id(event))
                self._before = self._before or (place, len(self._view_events))
            elif is_in_line(event.node_info.path, self._path):
                self._view_events.append(event)
        self._looked_at.look(events)
        return not left_out


def _current_turn(events: Sequence[Event], view: View) -> list[Event]:
    """Return the events from the one that the agent is to answer (`include_contents="none"`).

    If the user answers a call after other turns, the turn in which it was made continues.
    """
    turn: list[Event] = []
    uncalled: set[str | None] = set()
    """Ids of the user's answers whose calls are not in the turn."""
    latest: int | None = None
    """The length of the shortest possible turn."""
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
    """Drop summaries of events before the turn."""
    return [
        event
        for event in turn
        if (summary := event.actions.compaction) is None
        or summary.end_timestamp >= turn[0].timestamp
    ]


def _starts_turn(event: Event) -> bool:
    """Return whether the event says something new; transfers and tool results continue a turn."""
    if event.author == USER:
        return not event.get_function_responses()
    names = {call.name for call in event.get_function_calls()}
    names.update(response.name for response in event.get_function_responses())
    return transfer_to_agent.__name__ not in names


class Contents:
    """Fills a request's contents, and keeps the histories of recent sessions for later requests."""

    def __init__(self) -> None:
        self._sessions = LatestSessions()

    async def prepare(self, ctx: InvocationContext, llm_request: LlmRequest) -> None:
        """Join the history with the instructions that the request's contents hold so far."""
        view = _view(ctx)
        contents = self._contents(ctx, view)
        contents[:0] = _task(ctx, view)
        context = ctx.run_config.model_input_context if ctx.run_config else None
        if context:
            _insert_before(ctx.user_content, contents, context)
        llm_request.put_history(contents)

    def _contents(self, ctx: InvocationContext, view: View) -> list[types.Content]:
        events = ctx.session.events
        if gives_one_answer(ctx):
            return self._of_one_answer(ctx, view)
        if agent_of(ctx).include_contents == "none":
            view = view._replace(foreign_thoughts=False)  # as in ADK
            return self._sessions.of(ctx.session, view, CurrentTurn, view).contents(events)
        history = self._sessions.of(ctx.session, view, History, view)
        begin = _task_begins(ctx, view)
        # The session's own list grows, and is recognized without comparing its events.
        return history.contents(events[begin:] if begin else events)

    def _of_one_answer(self, ctx: InvocationContext, view: View) -> list[types.Content]:
        """Return what an agent that answers once was asked, and what it has done since.

        The conversation around it comes first if the agent explicitly includes it (adk-runtime
        7.3).
        """
        agent, path = agent_of(ctx), ctx.node_path or ""
        call_place = ctx.history.unsettled.get((view.branch or "").rpartition("@")[2])
        own = self._sessions.of(ctx.session, (view, path), OwnRunContents, view, path)
        since = own.contents(ctx.history.events, call_place.index if call_place else 0)
        before: list[types.Content] = []
        if "include_contents" in agent.model_fields_set and agent.include_contents == "default":
            around = view._replace(branch=None)  # each call of the agent has its own branch
            line = self._sessions.of(ctx.session, (around, path), InlineContents, around, path)
            before = line.contents(ctx.session.events, own.events, view.branch)
        message = ctx.user_content
        if message is None or any(map(is_, reversed(before), repeat(message))):
            return [*before, *since]  # a node without input
        return [*before, message, *since]


def contents() -> RequestProcessor:
    """Create the contents processor of one flow."""
    return RequestProcessor("contents", prepare=Contents().prepare)


request_processor = contents()
"""For custom flows, which may share it."""


def _get_contents(
    current_branch: str | None,
    events: Sequence[Event],
    agent_name: str = "",
    *,
    isolation_scope: str | None = None,
    include_thoughts_from_other_agents: bool = False,
) -> list[types.Content]:
    """Return the contents of events as an agent sees them.

    It has google-adk's name, for code that uses it.

    Args:
        current_branch: The branch on which the agent works.
        events: The events of the session.
        agent_name: The agent whose events count as the model's own.
        isolation_scope: The task that the agent carries out.
        include_thoughts_from_other_agents: Whether to include them.
    """
    view = View(agent_name, current_branch, isolation_scope, include_thoughts_from_other_agents)
    return History(view).contents(events)


def _view(ctx: InvocationContext) -> View:
    thoughts = ctx.run_config.include_thoughts_from_other_agents if ctx.run_config else False
    agent = agent_of(ctx)
    # The root's task was not given by a call: it is in the user's message, outside of the task.
    scope = ctx.isolation_scope
    is_root = scope is not None and scope == f"{agent.name}@1"
    return View(agent.name, ctx.branch, scope, thoughts, whole_session=is_root)


def _task_begins(ctx: InvocationContext, view: View) -> int:
    """Return the index at which the agent's task begins; 0 if the agent may see everything."""
    if view.scope is None or not (view.branch or "").endswith(f"@{view.scope}"):
        return 0
    call_place = ctx.history.unsettled.get(view.scope)
    return ctx.history.begins_at if call_place is None else call_place.place


def _task(ctx: InvocationContext, view: View) -> list[types.Content]:
    """Return the agent's task if the conversation that the agent sees doesn't contain it."""
    if ctx.isolation_scope is None or view.whole_session:
        return []
    if gives_one_answer(ctx):
        return []  # the contents hold it already
    call_place = ctx.history.unsettled.get(ctx.isolation_scope)
    for call in call_place.event.get_function_calls() if call_place else ():
        if call.id == ctx.isolation_scope:
            return [task_content(call)]
    return [ctx.user_content] if ctx.user_content else []  # nodes of a graph aren't called


def _insert_before(
    message: types.Content | None, contents: list[types.Content], added: list[types.Content]
) -> None:
    """Insert contents before the message, or at the start if the message is missing."""
    places = range(len(contents) - 1, -1, -1) if message else ()
    start = next((index for index in places if contents[index] == message), 0)
    contents[start:start] = added
