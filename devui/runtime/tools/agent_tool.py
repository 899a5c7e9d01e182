"""`AgentTool`: an agent that is called like a function (adk-runtime 8.7)."""

from __future__ import annotations

import logging
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.run_config import RunConfig, StreamingMode
from devui.runtime.artifacts.base_artifact_service import (
    ArtifactVersion,
    BaseArtifactService,
    ensure_part,
)
from devui.runtime.memory.in_memory_memory_service import InMemoryMemoryService
from devui.runtime.mistakes import brief
from devui.runtime.models.output_schema import parse_output
from devui.runtime.runners import Runner
from devui.runtime.sessions.in_memory_session_service import InMemorySessionService
from devui.runtime.tools.agent_schemas import (
    as_message,
    as_text,
    declared,
    input_schema,
    misfit,
    output_schema,
    part_text,
)
from devui.runtime.tools.base_tool import BaseTool, keep_sources
from devui.runtime.tools.delegated_agent_tool import Outcome

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext


# Gives an agent that runs inside a tool the artifacts of the tool's caller (adk-runtime 8.7).


class ForwardingArtifactService(BaseArtifactService):
    """Reads and writes the caller's files, whatever scope is requested.

    Saved files appear in the caller's `artifact_delta`, as if the tool itself had saved them.
    """

    def __init__(self, tool_context: Context) -> None:
        """Forward to the artifact service of the tool's invocation."""
        self.tool_context = tool_context

    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: types.Part | dict[str, Any],
        session_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """Save a new version as the caller."""
        return await self.tool_context.save_artifact(
            filename, ensure_part(artifact), custom_metadata
        )

    async def load_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> types.Part | None:
        """Return that version of the caller's file, or the newest."""
        return await self.tool_context.load_artifact(filename, version)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Return the names of the caller's files."""
        return await self.tool_context.list_artifacts()

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete all versions of the caller's file."""
        await self._service().delete_artifact(**self._scope(), filename=filename)

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the version numbers of the caller's file."""
        return await self._service().list_versions(**self._scope(), filename=filename)

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return the metadata of each version of the caller's file."""
        return await self._service().list_artifact_versions(**self._scope(), filename=filename)

    async def get_artifact_version(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> ArtifactVersion | None:
        """Return the metadata of that version of the caller's file, or of the newest."""
        return await self.tool_context.get_artifact_version(filename, version)

    def _service(self) -> BaseArtifactService:
        service = self.tool_context.get_invocation_context().artifact_service
        if service is None:
            raise ValueError("The Runner has no artifact_service. Pass it one to use artifacts.")
        return service

    def _scope(self) -> dict[str, str]:
        session = self.tool_context.session
        return {
            "app_name": session.app_name,
            "user_id": session.user_id,
            "session_id": session.id,
        }


logger = logging.getLogger(__name__)

_INTERNAL_STATE = "_adk"
_get_input_schema, _get_output_schema, _part_to_text = input_schema, output_schema, part_text
"""google-adk's names for these functions, which custom tools use."""


class AgentTool(BaseTool):
    """Runs an agent in a separate session and returns its last text (adk-runtime 8.7).

    The agent sees the caller's state and artifacts but not the conversation. Its changes to both
    are applied to the caller's; its events aren't stored.
    """

    speaks_to_user = True

    def __init__(
        self,
        agent: BaseAgent,
        skip_summarization: bool = False,
        *,
        include_plugins: bool = True,
        propagate_grounding_metadata: bool = False,
    ) -> None:
        """Create a tool with the name and description of the agent.

        Args:
            agent: The agent. The fields of its `input_schema` are the tool's parameters; without
                one, the only parameter is `request`. With an `output_schema`, the result is
                validated against it.
            skip_summarization: Whether the agent's answer ends the turn, without another call of
                the caller's model.
            include_plugins: Whether the caller's plugins also run for the agent.
            propagate_grounding_metadata: Whether the caller's answers include the sources of the
                agent's answers.

        Raises:
            TypeError: `agent` isn't an agent.
        """
        if not isinstance(agent, BaseAgent):
            raise TypeError(f"AgentTool takes an agent, not {brief(agent)}.")
        super().__init__(name=agent.name, description=agent.description)
        self.agent = agent
        self.skip_summarization = skip_summarization
        self.include_plugins = include_plugins
        self.propagate_grounding_metadata = propagate_grounding_metadata

    def _origin(self) -> str:
        return f"agent {self.agent.name!r}"

    def _get_declaration(self) -> types.FunctionDeclaration:
        return declared(self.agent, self.name)

    async def run_async(self, *, args: dict[str, Any], tool_context: Context) -> Any:
        """Run the agent and return its last text, or the value that its output schema describes.

        If the arguments don't fit the agent's schema, the model gets an error and can correct them.
        Raises ValueError if the answer doesn't fit, and whatever the agent raises.
        """
        try:
            message = as_message(self.agent, args)
        except ValueError as error:
            return misfit(error)
        if self.skip_summarization:
            tool_context.actions.skip_summarization = True
        outcome = await _run(self, message, tool_context)
        if outcome.waiting:
            tool_context.actions.skip_summarization = False
            return _cannot_wait(self.agent, outcome.waiting)
        return _result(self, outcome, tool_context)


# Functions, since methods could clash with those of subclasses.


async def _run(tool: AgentTool, message: types.Content, tool_context: Context) -> Outcome:
    ctx = tool_context.get_invocation_context()
    outcome = Outcome()
    async with _runner(tool, tool_context) as runner:
        session = await runner.session_service.create_session(
            app_name=runner.app_name, user_id=ctx.user_id, state=_shared_state(tool_context)
        )
        run = runner.run_async(
            user_id=ctx.user_id,
            session_id=session.id,
            new_message=message,
            run_config=_run_config(ctx),
            abort_signal=ctx.abort_switch,
        )
        async with aclosing(run) as events:
            async for event in events:
                tool_context.state.update(event.actions.state_delta)
                outcome.take(event)
    return outcome


def _runner(tool: AgentTool, tool_context: Context) -> Runner:
    ctx = tool_context.get_invocation_context()
    runner = Runner(
        app_name=ctx.app_name,
        agent=tool.agent,
        plugins=list(ctx.plugin_manager.plugins) if tool.include_plugins else None,
        artifact_service=ForwardingArtifactService(tool_context) if ctx.artifact_service else None,
        session_service=InMemorySessionService(),
        memory_service=InMemoryMemoryService(),
        credential_service=ctx.credential_service,
    )
    # The plugins belong to the caller's Runner, which is still running.
    runner.plugin_manager.set_skip_closing_plugins(True)
    return runner


def _result(tool: AgentTool, outcome: Outcome, tool_context: Context) -> Any:
    if outcome.output is not None:
        return outcome.output
    text = as_text(outcome.content)
    if not text:
        return outcome.error or ""
    if tool.propagate_grounding_metadata and outcome.grounding:
        keep_sources(tool_context.state, outcome.grounding)
    schema = output_schema(tool.agent)
    if schema is None:
        return text
    try:
        return parse_output(schema, text)
    except ValueError as error:
        raise ValueError(
            f"The answer of agent {tool.agent.name!r}, called as a tool, does not match its"
            f" output_schema: {error}"
        ) from error


def _cannot_wait(agent: BaseAgent, waiting: set[str]) -> str:
    ids = ", ".join(sorted(waiting))
    logger.warning(
        "Agent %r waits for answers to the calls %s, but nobody can give them: an AgentTool's"
        " session ends with the call. Put the agent into `sub_agents` if it needs to wait.",
        agent.name,
        ids,
    )
    return (
        f"Error: agent {agent.name!r} stopped to wait for an answer that a tool cannot"
        f" get (open calls: {ids})."
    )


def _shared_state(tool_context: Context) -> dict[str, Any]:
    """Return the caller's state without the runtime's own keys."""
    state = tool_context.state.to_dict()
    return {key: value for key, value in state.items() if not key.startswith(_INTERNAL_STATE)}


def _run_config(ctx: InvocationContext) -> RunConfig | None:
    """Return the caller's settings without streaming: nobody sees partial answers."""
    config = ctx.run_config
    if config is None or config.streaming_mode is StreamingMode.NONE:
        return config
    return config.model_copy(update={"streaming_mode": StreamingMode.NONE})
