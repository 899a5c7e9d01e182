"""Whom a message of the user is for, when a task waits for it (adk-runtime 3.3, 12.8)."""

from collections.abc import Mapping, Sequence

from devui.runtime.agents.agent_tree import family
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.events.event import Event
from devui.runtime.events.rewinds import live_events_backwards
from devui.runtime.invocations.aborts import INVOCATION_ABORTED
from devui.runtime.invocations.messages import Answered
from devui.runtime.sessions.beginnings import Beginnings
from devui.runtime.sessions.session import Session
from devui.runtime.tools.finish_task_tool import finishing_response
from devui.runtime.workflow.base_node import BaseNode

_SESSIONS_KEPT = 256


class OpenTasks:
    """Finds the task that waits for the user's words.

    Where no task was open once, none of those before opens again, so that a long history need not
    be read anew with each message.
    """

    def __init__(self) -> None:
        self._done: Beginnings[None] = Beginnings(_SESSIONS_KEPT)
        """Where no task was open."""

    def spoken_to(self, root: BaseNode, session: Session) -> Answered | None:
        """The task that the user's next words go to: the latest that has begun and not ended.

        A task ends when it is finished, when its call gets another answer, and with an invocation
        that is aborted.
        """
        if not _gives_tasks(root):
            return None
        history, done = session.events, self._done.of(session)
        task = _latest_open(history, history[done.count - 1] if done else None)
        if task is None:
            self._done.keep(session, None)
        return task


def _latest_open(history: Sequence[Event], done: Event | None) -> Answered | None:
    """The latest task that is open; none was when `done` was the last event."""
    ended: set[str | None] = {None}
    aborted: set[str] = set()
    latest: dict[str | None, Event] = {}
    for event in live_events_backwards(history):
        if event is done and not latest:
            return None
        if opened := _opened(event, latest):
            return opened
        scope = event.isolation_scope
        ended.update(response.id for response in event.get_function_responses())
        if event.error_code == INVOCATION_ABORTED:
            aborted.add(event.invocation_id)
        if finishing_response(event) is not None or event.invocation_id in aborted:
            # What an agent leaves behind its finish, as a callback does, opens nothing.
            ended.add(scope)
            latest.pop(scope, None)
        elif scope not in ended and event.actions.compaction is None:
            latest.setdefault(scope, event)
    return None


def _gives_tasks(root: BaseNode) -> bool:
    """Whether there is an agent in the tree that could wait with a task; a graph may have any."""
    if not isinstance(root, BaseAgent):
        return True
    return any(isinstance(each, LlmAgent) and each.mode == "task" for each in family(root))


def _opened(event: Event, latest: Mapping[str | None, Event]) -> Answered | None:
    """The task that began with the event, if it is one of those; `latest` has their last events."""
    for call in event.get_function_calls():
        if call.id in latest:
            return Answered(event, frozenset({event.author}), scope=call.id, in_words=True)
    words = event.author == "user" and event.content and not event.get_function_responses()
    if words and event.isolation_scope is None:
        for scope, last in latest.items():  # a root agent's task begins with a message
            if last.invocation_id == event.invocation_id:
                callers = frozenset({last.author})
                return Answered(last, callers, scope=scope, in_words=True)
    return None
