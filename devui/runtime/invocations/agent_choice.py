"""Which agent of the tree takes the next turn (adk-runtime 3.4)."""

import logging
from collections.abc import Mapping, Sequence

from devui.runtime.agents.base_agent import BaseAgent, family
from devui.runtime.agents.invocation_events import finishing_response, is_work_of_a_tool
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.events.event import Event
from devui.runtime.events.rewinds import live_events_backwards
from devui.runtime.invocations.aborts import INVOCATION_ABORTED
from devui.runtime.invocations.messages import AnsweredCalls
from devui.runtime.sessions.latest_sessions import Beginnings
from devui.runtime.sessions.session import Session
from devui.runtime.workflow.base_node import BaseNode

# Decides whether a user's message is for a task that waits for it (adk-runtime 3.3, 12.8).


_SESSIONS_KEPT = 256


class OpenTasks:
    """Finds the task that waits for the user's message.

    Once no task is open, earlier tasks never reopen, so a long history needn't be read again for
    each message.
    """

    def __init__(self) -> None:
        self._closed: Beginnings[None] = Beginnings(_SESSIONS_KEPT)
        """The last known point at which no task was open, for each of the latest sessions."""

    def spoken_to(self, root: BaseNode, session: Session) -> AnsweredCalls | None:
        """Return the task that the user's next message is for: the latest that hasn't ended.

        A task ends when it is finished, when its call gets another answer, or when an invocation is
        aborted.
        """
        if not _gives_tasks(root):
            return None
        history, beginning = session.events, self._closed.of(session)
        task = _latest_open(history, history[beginning.count - 1] if beginning else None)
        if task is None:
            self._closed.keep(session, None)
        return task


def _latest_open(history: Sequence[Event], closing: Event | None) -> AnsweredCalls | None:
    """Return the latest open task; none was open when `closing` was the last event."""
    closed_scopes: set[str | None] = {None}
    aborted: set[str] = set()
    latest: dict[str | None, Event] = {}
    for event in live_events_backwards(history):
        if event is closing and not latest:
            return None
        if task := _opened_task(event, latest):
            return task
        scope = event.isolation_scope
        closed_scopes.update(response.id for response in event.get_function_responses())
        if event.error_code == INVOCATION_ABORTED:
            aborted.add(event.invocation_id)
        if finishing_response(event) is not None or event.invocation_id in aborted:
            # What an agent emits after its finish, as a callback does, opens nothing.
            closed_scopes.add(scope)
            latest.pop(scope, None)
        elif scope not in closed_scopes and event.actions.compaction is None:
            latest.setdefault(scope, event)
    return None


def _gives_tasks(root: BaseNode) -> bool:
    """Return whether any agent in the tree could wait with a task; a graph may have any."""
    if not isinstance(root, BaseAgent):
        return True
    return any(isinstance(each, LlmAgent) and each.mode == "task" for each in family(root))


def _opened_task(event: Event, latest: Mapping[str | None, Event]) -> AnsweredCalls | None:
    """Return the task that began with the event, or None.

    `latest` has the last event of each task in question.
    """
    for call in event.get_function_calls():
        if call.id in latest:
            return AnsweredCalls(
                event,
                frozenset({event.author}),
                scope=call.id,
                in_words=True,
                begun_in=latest[call.id].invocation_id,
            )
    words = event.author == "user" and event.content and not event.get_function_responses()
    if words and event.isolation_scope is None:
        for scope, last in latest.items():  # a root agent's task begins with a message
            if last.invocation_id == event.invocation_id:
                callers = frozenset({last.author})
                return AnsweredCalls(last, callers, scope=scope, in_words=True)
    return None


logger = logging.getLogger(__name__)


def last_speaker(root: BaseAgent, history: Sequence[Event]) -> BaseAgent:
    """Return the agent that spoke or got the turn last, if it can return the turn; else the root.

    Reads the history backwards and no further than needed.
    """
    strangers: set[str] = set()
    for event in live_events_backwards(history):
        if _says_nothing(event) or event.author in strangers:
            continue
        agent = root.find_agent(event.author)
        target = _handed_to(agent, event.actions.transfer_to_agent)
        if target is not None and can_hand_back(target):
            return target
        if agent is None and is_work_of_a_tool(event):
            continue  # the agent that made the call comes earlier
        if agent is None:
            strangers.add(event.author)
            logger.warning("No agent %r in the tree of %r.", event.author, root.name)
        elif agent is root or can_hand_back(agent):
            return agent
    return root


def _handed_to(source: BaseAgent | None, name: str | None) -> BaseAgent | None:
    """Return the agent that got the turn; None if none did, or the transfer was refused."""
    if name is None or not isinstance(source, LlmAgent):
        return None
    return next((target for target in source.may_hand_over_to if target.name == name), None)


def _says_nothing(event: Event) -> bool:
    """Return whether the event says nothing about whose turn it is."""
    return (
        event.author == "user"
        or event.actions.agent_state is not None
        or bool(event.actions.end_of_agent)
        or event.error_code == INVOCATION_ABORTED
        or (bool(event.error_code) and event.content is None)
    )


def can_hand_back(agent: BaseAgent) -> bool:
    """Return whether the agent and all above it are model agents that can give the turn back."""
    above: BaseAgent | None = agent
    while above is not None:
        if not isinstance(above, LlmAgent) or above.disallow_transfer_to_parent:
            return False
        if above.is_called_by_model:
            return False
        above = above.parent_agent
    return True


def latest_branch(agent: BaseAgent, history: Sequence[Event]) -> str | None:
    """Return the branch on which the agent spoke last."""
    for event in live_events_backwards(history):
        if event.author == agent.name:
            return event.branch
    return None
