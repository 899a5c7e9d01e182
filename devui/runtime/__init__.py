"""The runtime: an agent system with ADK's public names. Names are loaded on first use."""

from typing import TYPE_CHECKING

from devui.runtime.exports import lazy
from devui.runtime.left_out import install
from devui.runtime.version import __version__ as __version__

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.llm_agent import Agent
    from devui.runtime.events.event import Event
    from devui.runtime.runners import Runner
    from devui.runtime.workflow.workflow import Workflow

__all__ = ["Agent", "Context", "Event", "Runner", "Workflow"]

__getattr__ = lazy(
    __name__,
    {
        "Agent": "agents.llm_agent",
        "Context": "agents.context",
        "Event": "events.event",
        "Runner": "runners",
        "Workflow": "workflow.workflow",
    },
)

# The only effect of this import: missing names of google-adk are explained when imported.
install()
