"""The flow of an agent that may hand the conversation to others."""

from devui.runtime.flows.llm_flows.agent_transfer import agent_transfer
from devui.runtime.flows.llm_flows.single_flow import SingleFlow


class AutoFlow(SingleFlow):
    """A single flow that also offers transfers (adk-runtime 6.6)."""

    def __init__(self) -> None:
        super().__init__()
        self.request_processors.append(agent_transfer)
