"""The tree that agents are in: who is below whom (adk-runtime 5.1)."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from devui.runtime.agents.base_agent import BaseAgent

logger = logging.getLogger(__name__)


def family(agent: BaseAgent, above: tuple[BaseAgent, ...] = ()) -> Iterator[BaseAgent]:
    """The agent and all below it.

    Args:
        agent: The agent.
        above: Those that were gone through to come to it.

    Raises:
        ValueError: an agent is below itself, for code may append to `sub_agents`.
    """
    yield agent
    for sub_agent in agent.sub_agents:
        line = (*above, agent)
        if any(sub_agent is each for each in line):
            raise _circle(sub_agent, line)
        yield from family(sub_agent, line)


def check_place(sub_agent: BaseAgent, parent: BaseAgent) -> None:
    """Refuse a sub-agent that is one already.

    Raises:
        ValueError: it has a parent.
    """
    taken = sub_agent.parent_agent
    if taken is parent:
        raise ValueError(
            f"Agent {sub_agent.name!r} is among the `sub_agents` of {parent.name!r} twice; leave"
            ' one out, or give it a copy, made with clone(update={"name": ...}).'
        )
    if taken is not None:
        raise ValueError(
            f"Agent {sub_agent.name!r} is a sub-agent of {taken.name!r} and cannot be one of"
            f" {parent.name!r} too; give each its own copy, made with clone()."
        )


def adopt(parent: BaseAgent, sub_agent: BaseAgent) -> None:
    """Put a sub-agent below its parent, which is being made with it."""
    sub_agent.parent_agent, sub_agent._came_late = parent, False


def warn_of_namesakes(root: BaseAgent) -> None:
    """Log a warning if agents of the tree share a name; ValueError if one is below itself."""
    names = Counter(each.name for each in family(root))
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        logger.warning(
            "Agents share the names %s; only the first of each is found. Rename the others.", twice
        )


def warn_if_idle(agent: BaseAgent) -> None:
    """Log a warning if an agent that does nothing but run its sub-agents has none."""
    if not agent.sub_agents:
        logger.warning(
            "Agent %r has nothing to do: it runs its `sub_agents`, and has none.", agent.name
        )


def _circle(agent: BaseAgent, line: tuple[BaseAgent, ...]) -> ValueError:
    names = [each.name for each in line]
    start = next(number for number, each in enumerate(line) if each is agent)
    way = " > ".join([*names[start:], agent.name])
    return ValueError(
        f"Agent {agent.name!r} is below itself ({way}), so its tree would never end. Take one of"
        " them out of `sub_agents`."
    )
