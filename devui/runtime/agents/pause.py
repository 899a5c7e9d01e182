"""Whether what runs sub-agents has to stop behind one of them (adk-runtime 5.2, 11.5)."""

from typing import TYPE_CHECKING

from devui.runtime.agents.agent_tree import family
from devui.runtime.agents.open_calls import awaits_user, pausing_calls
from devui.runtime.agents.tasks import open_tasks

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event


class Pause:
    """Watches one run of a sub-agent for calls that are answered later, and for open tasks.

    A resumed agent that still waits for its answer runs without saying anything, so then the
    history has to tell.
    """

    def __init__(self, ctx: "InvocationContext", agent: "BaseAgent") -> None:
        self._ctx = ctx
        self._agent = agent
        self._seen = False

    def watch(self, event: "Event") -> None:
        """Take note of an event of the run."""
        self._seen = self._seen or bool(pausing_calls(event))

    @property
    def needed(self) -> bool:
        """Whether the run left something to wait for."""
        if self._seen or any(open_tasks(self._ctx, each) for each in family(self._agent)):
            return True
        if not self._ctx.has_begun:
            return False
        return awaits_user(self._ctx, {member.name for member in family(self._agent)})
