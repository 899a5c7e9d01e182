"""Excerpts of a session for agents that do not see all of it (adk-runtime 7.3).

They grow at their ends as the session does, so each event is looked at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from devui.runtime.agents.node_paths import is_in_line
from devui.runtime.events.growing_events import GrowingEvents
from devui.runtime.events.rewinds import live_events_backwards
from devui.runtime.flows.llm_flows.history import History
from devui.runtime.flows.llm_flows.visibility import USER, View, is_visible
from devui.runtime.tools.transfer_to_agent_tool import transfer_to_agent

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.events.event import Event


class CurrentTurn:
    """The events from the one on that the agent is to answer (`include_contents="none"`)."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._history = History(view)
        self._turn: list[Event] = []
        self._events: Sequence[Event] = ()
        self._count = 0
        """How many of the events have been looked at."""

    def __len__(self) -> int:
        return self._count

    def contents(self, events: Sequence[Event]) -> list[types.Content]:
        """What the turn is of these events, as contents."""
        new = events[self._count :]
        known = events is self._events and len(events) >= self._count
        if known and all(map(self._goes_on, new)):
            self._turn += new
        else:
            self._turn = _without_past(_current_turn(events, self._view))
        self._events, self._count = events, len(events)
        return self._history.contents(self._turn)

    def _goes_on(self, event: Event) -> bool:
        """Whether the event is one more of the turn: what the agent says begins none."""
        actions = event.actions
        return (
            event.author == self._view.agent
            and actions.rewind_before_invocation_id is None
            and actions.compaction is None
        )


class OwnRun:
    """What an agent did that answers once, and what the user answered to it."""

    def __init__(self, view: View, path: str) -> None:
        self._place = path, view.branch
        self._history = History(view)
        self.events: list[Event] = []
        self._calls: set[str | None] = set()
        self._events: Sequence[Event] = ()
        self._count = 0
        """How many of the events have been looked at."""

    def __len__(self) -> int:
        return self._count

    def contents(self, events: Sequence[Event], start: int) -> list[types.Content]:
        """What the run did of these events of its invocation, as contents; `start`: begin there."""
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


class InLine:
    """The conversation around an agent that answers once: what was said above it and in earlier
    runs of the same place, nothing of its neighbours.
    """

    def __init__(self, view: View, path: str) -> None:
        self._path = path
        self._history = History(view)
        self._seen: list[Event] = []
        self._looked_at = GrowingEvents()
        self._own: Sequence[Event] = ()
        self._own_count = 0
        """How many of the agent's own events have been left out."""
        self._before: tuple[int, int] | None = None
        """How many events were looked at, and seen, before the first that was left out."""

    def __len__(self) -> int:
        return self._looked_at.count

    def contents(
        self, events: Sequence[Event], own: Sequence[Event], branch: str | None
    ) -> list[types.Content]:
        """What is seen of these events from the branch, without those of the agent's own run."""
        if not self._goes_on(events, own):
            self._go_back((0, 0))
        self._own = own
        if not self._take(events, own):  # a run goes on that began before the last one
            self._go_back((0, 0))
            self._take(events, own)
        self._history.look_from(branch)
        return self._history.contents(self._seen)

    def _goes_on(self, events: Sequence[Event], own: Sequence[Event]) -> bool:
        """Whether there are these events and perhaps more, as far as they have been looked at."""
        if own is not self._own:  # another run, which sees those of the last one
            self._go_back(self._before or (len(self), len(self._seen)))
        return len(own) >= self._own_count and self._looked_at.goes_on(events)

    def _go_back(self, place: tuple[int, int]) -> None:
        count, length = place
        self._looked_at.go_back(count)
        self._seen = self._seen[:length]
        self._own_count, self._before = 0, None

    def _take(self, events: Sequence[Event], own: Sequence[Event]) -> bool:
        """Look at the events that are new; whether all new ones of the own are among them."""
        left_out = set(map(id, own[self._own_count :]))
        self._own_count = len(own)
        for place, event in enumerate(self._looked_at.new(events), len(self)):
            if id(event) in left_out:
                left_out.remove(id(event))
                self._before = self._before or (place, len(self._seen))
            elif is_in_line(event.node_info.path, self._path):
                self._seen.append(event)
        self._looked_at.look(events)
        return not left_out


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
    return transfer_to_agent.__name__ not in names
