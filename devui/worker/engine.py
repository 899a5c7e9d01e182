"""Drives one app with a Runner of the kit's runtime, executing one invocation per run."""

import json
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from google.genai import types
from pydantic import ValidationError

from devui.runtime.events.reading import read_deep
from devui.wire.gates import Effect
from devui.wire.messages import AgentInfo, AppInfo, Partial, StartRun
from devui.wire.settings import RunSettings
from devui.worker.artifacts import WireArtifactService
from devui.worker.engines.kit import App, BaseNode
from devui.worker.instruments.instruments import Instruments
from devui.worker.json_text import wire_text
from devui.worker.link import Link
from devui.worker.message_files import save_files
from devui.worker.project import add_plugins, memory_service
from devui.worker.sessions import WireSessionService
from devui.worker.structure import Structure
from devui.worker.tools import effect_of_tool
from devui.worker.trials import Trials


class Engine:
    """One loaded app, ready to execute runs."""

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
        self._kit = kit = instruments.kit
        self._agents = agents
        folder = agents.joinpath(*name.split("."))
        sessions = kit.derive(WireSessionService, kit.base_session_service)
        artifacts = kit.derive(WireArtifactService, kit.base_artifact_service)
        self._sessions = sessions(link, name, instruments, agents=agents)
        self._runner = kit.runner(
            exported,
            app_name=name,
            session_service=self._sessions,
            artifact_service=artifacts(link, kit),
            memory_service=memory_service(agents, folder, kit),
        )
        add_plugins(self._runner, folder, kit)
        self.trials = Trials(self._runner, kit, link.send, agents)
        instruments.join(self._runner)
        self._replayer = instruments.replayer

    def describe(self) -> AppInfo:
        """Describe the contents of the app."""
        agents = list(self._tree(self._runner.agent, None, hands_back=True))
        structure = Structure(self._runner.agent, self._kit, self._agents)
        return AppInfo(
            name=self._name,
            description=agents[0].description,
            agents=agents,
            is_resumable=self._kit.is_resumable(self._runner),
            nodes=structure.nodes,
            edges=structure.edges,
        )

    def watch(self, run: str) -> None:
        """Report a run's uncommitted state from now on."""
        self._sessions.watch(run)

    async def run(self, start: StartRun) -> None:
        """Execute one invocation to its end; the session service commits its events.

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
        message = _content(start.message)
        if start.save_files and message is not None:
            message, versions = await save_files(
                self._runner.artifact_service,
                message,
                app_name=self._name,
                user_id=start.user,
                session_id=start.session,
            )
            self._sessions.report(start, versions)
        events = self._runner.run_async(
            user_id=start.user,
            session_id=start.session,
            invocation_id=start.invocation,
            new_message=message,
            state_delta=_json(start.state_delta),
            run_config=self._kit.run_config(
                streaming=start.streaming,
                custom_metadata=_json(start.custom_metadata),
                service_tier=start.service_tier,
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

    def _tree(self, node: BaseNode, parent: str | None, *, hands_back: bool) -> Iterator[AgentInfo]:
        """Yield the agents from this one down.

        `hands_back`: whether every agent above may transfer to its parent.
        """
        agent = node if isinstance(node, self._kit.llm_agent) else None
        hands_back = hands_back and agent is not None and not agent.disallow_transfer_to_parent
        if parent is not None and agent is not None and getattr(agent, "mode", "") in _CALLED:
            hands_back = False
        tools: list[Any] = agent.tools if agent else []
        yield AgentInfo(
            name=node.name,
            type=type(node).__name__,
            description=node.description,
            model=_model_name(agent) if agent else None,
            settings=_settings(agent) if agent else None,
            tools=[_tool_name(tool) for tool in tools],
            effects=_effects(tools),
            parent=parent,
            takes_turns=hands_back or parent is None,
        )
        for child in self._kit.children(node):
            yield from self._tree(child, node.name, hands_back=hands_back)


_CALLED = frozenset({"single_turn", "task"})
"""The modes of agents that the parent's model calls like functions; older agents have no mode."""


def _model_name(agent: Any) -> str | None:
    """Return the name of the agent's model; None if it inherits its parent's."""
    return getattr(agent.model, "model", agent.model) or None


def _settings(agent: Any) -> RunSettings | None:
    """Return the agent's settings for its model calls; None if it has none."""
    config = agent.generate_content_config
    if config is None:
        return None
    tokens = config.max_output_tokens
    settings = RunSettings(
        temperature=config.temperature, top_p=config.top_p, max_output_tokens=tokens
    )
    return settings or None


def _tool_name(tool: Any) -> str:
    """Return the name of a tool: an object with a name, a function, or a toolset without either."""
    return str(getattr(tool, "name", None) or getattr(tool, "__name__", type(tool).__name__))


def _effects(tools: list[Any]) -> dict[str, Effect]:
    effects = ((_tool_name(tool), effect_of_tool(tool)) for tool in tools)
    return {name: effect for name, effect in effects if effect is not None}


def _content(text: str | None) -> types.Content | None:
    if not text:
        return None
    try:
        return types.Content.model_validate_json(text)
    except ValidationError:  # pydantic's parser allows 200 levels of nesting
        return read_deep(types.Content, text)


def _json(text: str | None) -> dict[str, Any] | None:
    return json.loads(text) if text else None
