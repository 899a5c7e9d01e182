"""Which agent of the tree takes the next turn (adk-runtime 3.4)."""

import logging
from collections.abc import Sequence

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.agents.open_calls import is_work_of_a_tool
from devui.runtime.events.event import Event
from devui.runtime.events.rewinds import live_events_backwards
from devui.runtime.invocations.aborts import INVOCATION_ABORTED

logger = logging.getLogger(__name__)


def last_speaker(root: BaseAgent, history: Sequence[Event]) -> BaseAgent:
    """The agent that spoke last, or was handed the turn, if it can give the turn back; else root.

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
    """The agent that was handed the turn; None if nobody was, or it was refused."""
    if name is None or not isinstance(source, LlmAgent):
        return None
    return next((target for target in source.may_hand_over_to if target.name == name), None)


def _says_nothing(event: Event) -> bool:
    """Whether the event tells nothing about whose turn it is."""
    return (
        event.author == "user"
        or event.actions.agent_state is not None
        or bool(event.actions.end_of_agent)
        or event.error_code == INVOCATION_ABORTED
        or (bool(event.error_code) and event.content is None)
    )


def can_hand_back(agent: BaseAgent) -> bool:
    """Whether a turn given to the agent can find its way back: model agents all the way up."""
    above: BaseAgent | None = agent
    while above is not None:
        if not isinstance(above, LlmAgent) or above.disallow_transfer_to_parent:
            return False
        if above.is_called_by_model:
            return False
        above = above.parent_agent
    return True


def latest_branch(agent: BaseAgent, history: Sequence[Event]) -> str | None:
    """The branch on which the agent spoke last."""
    for event in live_events_backwards(history):
        if event.author == agent.name:
            return event.branch
    return None
