"""Drives `devui.runtime`: one Runner for the app, one invocation for each run."""

import json
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from google.genai import types

from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.agents.run_config import RunConfig, StreamingMode
from devui.runtime.apps.app import App
from devui.runtime.auth.credential_service.in_memory_credential_service import (
    InMemoryCredentialService,
)
from devui.runtime.invocations.resumption import goes_on
from devui.runtime.invocations.toolsets import nodes_below
from devui.runtime.memory.in_memory_memory_service import InMemoryMemoryService
from devui.runtime.models.base_llm import BaseLlm
from devui.runtime.runners import Runner
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.effect import effect_of
from devui.runtime.workflow.base_node import BaseNode
from devui.wire.gates import Effect
from devui.wire.messages import AgentInfo, AppInfo, Partial, StartRun
from devui.worker.artifacts import WireArtifactService
from devui.worker.instruments import Instruments
from devui.worker.link import Link
from devui.worker.sessions import WireSessionService
from devui.worker.storable import wire_text
from devui.worker.trials import Trials


class NativeEngine:
    """One app of the native runtime, ready to run."""

    def __init__(
        self,
        name: str,
        exported: App | BaseNode,
        link: Link,
        instruments: Instruments,
        *,
        agents: Path,
    ) -> None:
        self._name = name
        self._link = link
        self._sessions = WireSessionService(link, name, instruments, agents=agents)
        app, agent = (exported, None) if isinstance(exported, App) else (None, exported)
        self._runner = Runner(
            app=app,
            agent=agent,
            app_name=name,
            session_service=self._sessions,
            artifact_service=WireArtifactService(link),
            memory_service=InMemoryMemoryService(),
            credential_service=InMemoryCredentialService(),
        )
        self.trials = Trials(self._runner, link.send, agents)
        self._runner.plugin_manager = instruments.around(self._runner.plugin_manager)
        self._replayer = instruments.replayer

    def describe(self) -> AppInfo:
        """What the app consists of."""
        app = self._runner.app
        config = app.resumability_config
        agents = list(_tree(self._runner.agent, None))
        return AppInfo(
            name=self._name,
            description=agents[0].description,
            agents=agents,
            goes_on=goes_on(app.root_agent, resumable=bool(config and config.is_resumable)),
        )

    def watch(self, run: str) -> None:
        """Tell of a run's uncommitted state from now on."""
        self._sessions.watch(run)

    async def run(self, start: StartRun) -> None:
        """Run one invocation to its end; events are committed through the session service.

        Raises whatever the agent's code raises.
        """
        with self._sessions.lease(start):
            await self._run(start)

    async def _run(self, start: StartRun) -> None:
        if start.rewind is not None:
            await self._runner.rewind_async(
                user_id=start.user,
                session_id=start.session,
                rewind_before_invocation_id=start.rewind,
            )
            return
        events = self._runner.run_async(
            user_id=start.user,
            session_id=start.session,
            invocation_id=start.invocation,
            new_message=_content(start.message),
            state_delta=_json(start.state_delta),
            run_config=RunConfig(
                streaming_mode=StreamingMode.SSE if start.streaming else StreamingMode.NONE
            ),
        )
        async with aclosing(events):
            async for event in events:
                if event.partial:
                    text = wire_text(event)
                    if (replay := self._replayer.of(start.run)) is not None:
                        replay.fragment(text)
                    self._link.send(Partial(run=start.run, event=text))

    async def close(self) -> None:
        """Close the runner's toolsets and plugins."""
        await self._runner.close()


def _tree(agent: BaseNode, parent: str | None) -> Iterator[AgentInfo]:
    yield AgentInfo(
        name=agent.name,
        type=type(agent).__name__,
        description=agent.description,
        model=_model_name(agent),
        tools=_tool_names(agent),
        effects=_effects(agent),
        parent=parent,
    )
    for child in nodes_below(agent):
        yield from _tree(child, agent.name)


def _model_name(agent: BaseNode) -> str | None:
    if not isinstance(agent, LlmAgent):
        return None
    return agent.model.model if isinstance(agent.model, BaseLlm) else agent.model or None


def _tool_names(agent: BaseNode) -> list[str]:
    if not isinstance(agent, LlmAgent):
        return []
    # A tool is an object with a name, a plain function, or a toolset, which has neither.
    return [
        str(getattr(tool, "name", None) or getattr(tool, "__name__", type(tool).__name__))
        for tool in agent.tools
    ]


def _effects(agent: BaseNode) -> dict[str, Effect]:
    if not isinstance(agent, LlmAgent):
        return {}
    found = zip(_tool_names(agent), map(_effect, agent.tools), strict=True)
    return {name: effect for name, effect in found if effect is not None}


def _effect(tool: object) -> Effect | None:
    if isinstance(tool, BaseTool):
        return tool.effect
    return effect_of(tool) if callable(tool) else None


def _content(text: str | None) -> types.Content | None:
    return types.Content.model_validate_json(text) if text else None


def _json(text: str | None) -> dict[str, Any] | None:
    return json.loads(text) if text else None
