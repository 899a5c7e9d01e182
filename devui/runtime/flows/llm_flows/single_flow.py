"""The flow of an agent that works alone: itself and its tools."""

from devui.runtime.flows.llm_flows._code_execution import (
    code_execution,
    code_execution_response,
)
from devui.runtime.flows.llm_flows._nl_planning import nl_planning, nl_planning_response
from devui.runtime.flows.llm_flows.auth import auth
from devui.runtime.flows.llm_flows.base_llm_flow import BaseLlmFlow
from devui.runtime.flows.llm_flows.basic import basic
from devui.runtime.flows.llm_flows.compaction import compaction
from devui.runtime.flows.llm_flows.contents import contents
from devui.runtime.flows.llm_flows.context_cache import context_cache
from devui.runtime.flows.llm_flows.extending import RequestStep, ResponseStep
from devui.runtime.flows.llm_flows.identity import identity
from devui.runtime.flows.llm_flows.instructions import instructions
from devui.runtime.flows.llm_flows.output_schema import output_schema
from devui.runtime.flows.llm_flows.request_confirmation import request_confirmation


class SingleFlow(BaseLlmFlow):
    """Instructions, history and tools; no other agents (adk-runtime 7.2)."""

    def __init__(self) -> None:
        super().__init__()
        self.request_processors += _create_request_processors()
        self.response_processors += _create_response_processors()


def _create_request_processors() -> list[RequestStep]:
    """What makes the request, in this order: the history is there before what works on it."""
    return [
        basic,
        auth,
        request_confirmation,
        instructions,
        identity,
        compaction,
        contents(),
        context_cache(),
        nl_planning(),
        code_execution(),
        output_schema,
    ]


def _create_response_processors() -> list[ResponseStep]:
    """What works on a response before it becomes an event."""
    return [nl_planning_response, code_execution_response]
