"""What a request offers a model: tools, agents, a format for answers (adk-runtime 6.6, 7.6)."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from google.genai import types

from devui.runtime.agents.context import Context, ReadonlyContext
from devui.runtime.agents.invocation_events import on_branch
from devui.runtime.auth.auth_handler import AuthHandler
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.auth.credential_manager import CredentialManager
from devui.runtime.events.event import Event
from devui.runtime.flows.llm_flows.processors import RequestProcessor, agent_of
from devui.runtime.flows.llm_flows.user_requests import credential_event
from devui.runtime.mistakes import brief, note_on_await, note_on_names
from devui.runtime.models.llm_request import own_contents
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset, toolsets_of
from devui.runtime.tools.control_tools import TransferToAgentTool
from devui.runtime.tools.set_model_response_tool import NAME, SetModelResponseTool

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent_settings import LlmAgentSettings
    from devui.runtime.models.llm_request import LlmRequest


# Declares the agent's own tools.


_declares = BaseTool.process_llm_request
"""The default, applied to several tools at once; other implementations may change contents."""


async def _declare_tools(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    for toolset in toolsets_of(agent.tools):
        with own_contents(llm_request, by=type(toolset).__name__):
            await _prepared(toolset, ctx, llm_request)
    alike: list[BaseTool] = []
    for tool in await agent.canonical_tools(ReadonlyContext(ctx)):
        if _prepares(tool, agent.name) is _declares:
            alike.append(tool)
            continue
        llm_request.append_tools(alike)
        alike = []
        with own_contents(llm_request, by=f"tool {tool.name!r}"):
            await _prepared(tool, ctx, llm_request)
    llm_request.append_tools(alike)


async def _prepared(
    tool: BaseTool | BaseToolset, ctx: InvocationContext, llm_request: LlmRequest
) -> None:
    try:
        await tool.process_llm_request(tool_context=Context(ctx), llm_request=llm_request)
    except TypeError as error:
        note_on_await(error, tool.process_llm_request)
        note_on_names(error, tool.process_llm_request, "tool_context", "llm_request")
        raise


def _prepares(tool: BaseTool, agent: str) -> Callable[..., Awaitable[None]]:
    """Return the tool class's `process_llm_request`; TypeError if the object isn't a tool."""
    try:
        return type(tool).process_llm_request
    except AttributeError:
        raise TypeError(
            f"A toolset of agent {agent!r} returned {brief(tool)}; its get_tools must return"
            " BaseTools, such as FunctionTool(...)."
        ) from None


agent_tools = RequestProcessor("agent_tools", prepare=_declare_tools)


# Prepares the credentials of toolsets before their tools are listed (adk-runtime 8.6).


logger = logging.getLogger(__name__)

TOOLSET_AUTH_CREDENTIAL_ID_PREFIX = "_adk_toolset_auth_"
"""The prefix of the `functionCallId` in requests that no function call made."""


def _has_toolsets(ctx: InvocationContext) -> bool:
    return bool(toolsets_of(agent_of(ctx).tools))


async def _run(ctx: InvocationContext, llm_request: LlmRequest) -> AsyncGenerator[Event, None]:
    missing: dict[str, AuthConfig] = {}
    for toolset in toolsets_of(agent_of(ctx).tools):
        if config := toolset.get_auth_config():
            name = type(toolset).__name__
            request = await _request(ctx, config, name)
            if request is not None:
                missing[f"{TOOLSET_AUTH_CREDENTIAL_ID_PREFIX}{name}"] = request
    if missing:
        yield credential_event(ctx, missing, role=None)
        ctx.end_invocation = True


async def _request(ctx: InvocationContext, config: AuthConfig, name: str) -> AuthConfig | None:
    """Put the credential into the invocation, or return what to ask the user for."""
    manager = CredentialManager(config)
    try:
        credential = await manager.get_auth_credential(Context(ctx))
        if credential is None:
            return AuthHandler(manager.auth_config).generate_auth_request()
    except ValueError as error:
        logger.warning("%s is used without a credential: %s", name, error)
        return None
    ctx.credential_by_key[config.credential_key or ""] = credential
    return None


toolset_auth = RequestProcessor("toolset_auth", run=_run, applies=_has_toolsets)
"""Runs before the tools are listed, which may need the credentials."""


# Offers the model the agents to which it may transfer the conversation (adk-runtime 6.6).


def transfer_tools(agent: LlmAgentSettings) -> list[BaseTool]:
    """Return the tool for transfers; empty if the agent can't transfer to any other."""
    targets = agent.may_hand_over_to
    return [TransferToAgentTool([target.name for target in targets])] if targets else []


def _has_targets(ctx: InvocationContext) -> bool:
    return bool(agent_of(ctx).may_hand_over_to)


async def _offer_transfer(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    targets = agent.may_hand_over_to
    descriptions = {target.name: await target.described_for_models() for target in targets}
    llm_request.append_instructions([_instruction(agent, targets, descriptions)])
    for tool in transfer_tools(agent):
        await tool.process_llm_request(tool_context=Context(ctx), llm_request=llm_request)


def _instruction(
    agent: LlmAgentSettings, targets: list[BaseAgent], descriptions: Mapping[str, str]
) -> str:
    listing = "\n\n".join(
        f"Name: {name}\nDescription: {description}" for name, description in descriptions.items()
    )
    names = ", ".join(f"`{name}`" for name in sorted(descriptions))
    text = (
        f"Other agents can take over this conversation:\n\n{listing}\n\n"
        "Compare the descriptions with what the user wants. Answer yourself when that is your own"
        " field. Otherwise call `transfer_to_agent` with the name of the agent whose field it is,"
        f" and say nothing besides. Valid names: {names}."
    )
    parent = agent.parent_agent
    if parent is not None and parent in targets:
        text += f"\n\nWhat is nobody's field goes to `{parent.name}`, the agent above you."
    return text


request_processor = agent_transfer = RequestProcessor(
    "agent_transfer", prepare=_offer_transfer, applies=_has_targets
)


# Asks the model for a structured answer (adk-runtime 6.4, 7.6).


_INSTRUCTION = (
    f"When you have your final answer, call `{NAME}` with it instead of writing it as text."
)


def _is_wanted(ctx: InvocationContext) -> bool:
    agent = agent_of(ctx)
    return agent.output_schema is not None and agent.mode != "task"


async def _ask_for_shape(ctx: InvocationContext, llm_request: LlmRequest) -> None:
    agent = agent_of(ctx)
    schema = agent.output_schema
    if (
        not (agent.tools or agent.sub_agents_as_tools)
        or agent.canonical_model.capabilities.output_schema_and_tools
    ):
        llm_request.set_output_schema(schema)
        return
    # Most models take either a schema or tools, so here the answer itself becomes a tool.
    llm_request.append_tools([SetModelResponseTool(schema)])
    llm_request.append_instructions([_INSTRUCTION])


def structured_answer(ctx: InvocationContext, responses: Event) -> Event | None:
    """Return the answer that a model gave through the tool, as a model's text."""
    answer = responses.actions.set_model_response
    if answer is None:
        return None
    text = json.dumps(answer, ensure_ascii=False)
    return Event(
        invocation_id=ctx.invocation_id,
        author=responses.author,
        branch=ctx.branch,
        content=types.Content(role="model", parts=[types.Part(text=text)]),
    )


def lost_answer(ctx: InvocationContext) -> Event | None:
    """Return the answer that an interrupted run got from the tool and didn't use (resume seed)."""
    if ctx.begun_at is None:
        return None
    name = agent_of(ctx).name
    own = (e for e in reversed(ctx.history.events) if e.author == name and e.content)
    answer = next((e for e in own if ctx.branch in {None, e.branch}), None)
    if answer is None or answer.actions.set_model_response is None:
        return None  # quick to check, and the usual case
    events = on_branch(ctx.history.events, ctx.branch, ctx.session.events)
    last = next((event for event in reversed(events) if event.content), None)
    return structured_answer(ctx, answer) if last is answer else None


output_schema = RequestProcessor("output_schema", prepare=_ask_for_shape, applies=_is_wanted)
