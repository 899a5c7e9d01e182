"""The instructions of a request (adk-runtime 6.3, 7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.genai import types

from devui.runtime.agents.readonly_context import ReadonlyContext
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.models.quoting import instruction_content
from devui.runtime.utils.instructions_utils import inject_session_state

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.models.llm_request import LlmRequest


async def _prepare(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    context = ReadonlyContext(ctx)
    root = agent.root_llm_agent
    if root is not None and root.global_instruction:
        text, as_it_is = await root.canonical_global_instruction(context)
        if not as_it_is and "{" in text:
            text = await inject_session_state(text, context)
        llm_request.append_instructions([text] if text else [])
    if agent.static_instruction is not None:
        llm_request.append_instructions(_static_content(agent.static_instruction))
    text, as_it_is = await agent.canonical_instruction(context)
    if not as_it_is and "{" in text:
        text = await inject_session_state(text, context)
    if not text:
        return
    if agent.static_instruction is None:
        llm_request.append_instructions([text])
    else:
        # The system instruction stays the same from turn to turn, so that providers can cache
        # it; what changes goes to the contents, which put it before the user's latest message.
        llm_request.contents.append(instruction_content(text))


def _static_content(instruction: types.ContentUnion) -> types.Content:
    if isinstance(instruction, types.Content):
        return instruction
    return types.Content(role="user", parts=types.UserContent(instruction).parts)


request_processor = instructions = RequestProcessor("instructions", prepare=_prepare)
