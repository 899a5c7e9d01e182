"""Trials: single calls of a tool or model outside all runs (dev-uis 4.1, features 19 and 47).

No plugin and no callback sees them, so nothing is held or recorded. A tool gets a context with its
own session and a copy of the state; what it writes is reported and then discarded.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any, Final, assert_never

from google.genai import types

from devui.runtime.mistakes import message_of
from devui.wire.trials import (
    AddToMemory,
    CheckEdit,
    CheckModel,
    DescribeApp,
    DescribeBuild,
    DescribeTools,
    Recall,
    Trial,
    TrialResult,
    TryModel,
    TryTool,
)
from devui.worker.app_graph import build_of
from devui.worker.engines.kit import (
    ArtifactVersion,
    BaseArtifactService,
    BaseNode,
    BaseTool,
    BaseToolset,
    InvocationContext,
    Kit,
    LlmAgent,
    LlmRequest,
    Runner,
)
from devui.worker.errors import agent_error
from devui.worker.instruments.gates import problem_of
from devui.worker.json_text import as_json
from devui.worker.output import current_run
from devui.worker.run_settings import Models, llm_agents
from devui.worker.tools import (
    confirmation_of,
    declaration_of,
    effect_of_tool,
    returns_of,
    schema_of,
)


class TrialArtifacts(BaseArtifactService):
    """An artifact service that reads from another one and writes only to memory.

    A file that the trial saves or deletes is its own from then on: older versions become invisible.
    """

    def __init__(self, below: BaseArtifactService, kit: Kit) -> None:
        self._below = below
        self._own = kit.in_memory_artifact_service()
        self._changed: set[str] = set()

    def _of(self, filename: str) -> BaseArtifactService:
        return self._own if filename in self._changed else self._below

    async def save_artifact(self, *, filename: str, **more: Any) -> int:
        """Save in memory; return the version, counted from 0 again."""
        self._changed.add(filename)
        return await self._own.save_artifact(filename=filename, **more)

    async def load_artifact(self, *, filename: str, **more: Any) -> types.Part | None:
        """Return the trial's own version, or else the session's."""
        return await self._of(filename).load_artifact(filename=filename, **more)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Return the names of the trial's and the session's files, sorted."""
        below, own = [
            await service.list_artifact_keys(
                app_name=app_name, user_id=user_id, session_id=session_id
            )
            for service in (self._below, self._own)
        ]
        return sorted({*own, *(name for name in below if name not in self._changed)})

    async def delete_artifact(self, *, filename: str, **more: Any) -> None:
        """Hide the file from the trial; the session keeps it."""
        self._changed.add(filename)
        await self._own.delete_artifact(filename=filename, **more)

    async def list_versions(self, *, filename: str, **more: Any) -> list[int]:
        """Return the versions of the trial's own file, or else of the session's."""
        return await self._of(filename).list_versions(filename=filename, **more)

    async def list_artifact_versions(self, *, filename: str, **more: Any) -> list[ArtifactVersion]:
        """Return the metadata of these versions."""
        return await self._of(filename).list_artifact_versions(filename=filename, **more)

    async def get_artifact_version(self, *, filename: str, **more: Any) -> ArtifactVersion | None:
        """Return the metadata of one version, or of the newest."""
        return await self._of(filename).get_artifact_version(filename=filename, **more)


_WIRE: Final[dict[str, Any]] = {"mode": "json", "by_alias": True, "exclude_none": True}


class TargetNotFound(LookupError):
    """The app doesn't have this agent, tool or service, or the session doesn't exist."""


class Trials:
    """Runs each trial in a task of its own; `send` delivers the results."""

    def __init__(
        self, runner: Runner, kit: Kit, send: Callable[[TrialResult], None], agents: Path
    ) -> None:
        self._kit = kit
        self._runner = runner
        self._send = send
        self._agents = agents
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def start(self, trial: Trial) -> None:
        """Start a trial, which ends with a `TrialResult` unless it is stopped."""
        task = asyncio.get_running_loop().create_task(self._try(trial), name=f"trial {trial.trial}")
        self._tasks[trial.trial] = task
        task.add_done_callback(lambda _: self._tasks.pop(trial.trial, None))

    def stop(self, trial: int) -> None:
        """Cancel a trial; does nothing if it has ended."""
        if task := self._tasks.get(trial):
            task.cancel("nobody waits for the trial")

    async def stop_all(self) -> None:
        """Cancel all trials and wait until they have ended."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _try(self, trial: Trial) -> None:
        current_run.set(f"trial-{trial.trial}")
        began, result, error = time.perf_counter(), None, None
        try:
            result = as_json(await self._result(trial))
        # Agent code may raise anything, sys.exit() included: it ends the trial, never the worker.
        except BaseException as exception:  # noqa: BLE001
            failure = agent_error(exception, self._agents)
            error = json.dumps(
                {
                    "type": failure.type,
                    "message": failure.message,
                    "file": failure.file,
                    "line": failure.line,
                    "traceback": failure.traceback,
                }
            )
        seconds = time.perf_counter() - began
        self._send(TrialResult(trial=trial.trial, seconds=seconds, result=result, error=error))

    async def _result(self, trial: Trial) -> Any:
        match trial:
            case DescribeTools():
                return await self._tools()
            case TryTool():
                return await self._call(trial)
            case TryModel():
                return await self._ask(trial)
            case DescribeApp():
                return await self._described_agents()
            case DescribeBuild():
                return build_of(self._runner.app, self._kit)
            case CheckModel() | CheckEdit():
                return self._check(trial)
            case AddToMemory():
                return await self._remember(trial)
            case Recall():
                return await self._recall(trial)
            case _:
                assert_never(trial)

    async def _tools(self) -> dict[str, list[dict[str, Any]]]:
        tools, silent = [], []
        for agent in self._llm_agents(self._runner.agent):
            context = self._kit.readonly_context(self._invocation(agent))
            canonical = await agent.canonical_tools(context)
            tools += [_description(agent.name, tool) for tool in canonical]
            toolsets = [each for each in agent.tools if isinstance(each, self._kit.base_toolset)]
            silent += [
                reason for each in toolsets if (reason := await _silence(agent, each, context))
            ]
        return {"tools": tools, "silent": silent}

    async def _described_agents(self) -> dict[str, Any] | None:
        """Describe the agents by name, children first, as ADK's server does."""
        if not isinstance(self._runner.agent, self._kit.llm_agent):
            return None
        agents: dict[str, Any] = {}
        for agent in reversed(list(self._llm_agents(self._runner.agent))):
            tools = await agent.canonical_tools(self._kit.readonly_context(self._invocation(agent)))
            declared = [each for tool in tools if (each := declaration_of(tool))]
            agents[agent.name] = {
                "name": agent.name,
                "description": agent.description,
                "instruction": _instruction(agent),
                "tools": [
                    {"functionDeclarations": [each.model_dump(**_WIRE)]} for each in declared
                ],
                "sub_agents": [
                    each.name for each in agent.sub_agents if isinstance(each, self._kit.llm_agent)
                ],
            }
        return agents

    def _check(self, trial: CheckModel | CheckEdit) -> str | None:
        if isinstance(trial, CheckModel):
            self._check_model(trial.model)
            return None
        texts = {"value": trial.value, "held": trial.held}
        return problem_of(self._kit, trial.gate, trial.action, **texts)

    def _check_model(self, name: str) -> None:
        own = self._runner.agent
        model = own.canonical_model if isinstance(own, self._kit.llm_agent) else None
        Models(own, self._kit).instead_of(model, name)

    async def _remember(self, trial: AddToMemory) -> None:
        runner = self._runner
        session = await runner.session_service.get_session(
            app_name=runner.app_name, user_id=trial.user, session_id=trial.session
        )
        if session is None or runner.memory_service is None:
            raise TargetNotFound(
                f"there is no session {trial.session!r}, or no memory to add it to"
            )
        await runner.memory_service.add_session_to_memory(session)

    async def _recall(self, trial: Recall) -> dict[str, Any]:
        service, app = self._runner.memory_service, self._runner.app_name
        if service is None:
            raise TargetNotFound("the app has no memory service")
        memories: list[Any] | None
        if trial.query:
            answer = await service.search_memory(
                app_name=app, user_id=trial.user, query=trial.query
            )
            memories = answer.memories[: trial.limit]
        else:
            memories = await self._kit.memories(service, app, trial.user, trial.limit)
        return {
            "service": type(service).__name__,
            "listed": memories is not None,
            "memories": [each.model_dump(**_WIRE) for each in memories or ()],
        }

    async def _call(self, trial: TryTool) -> dict[str, Any]:
        agent = self._agent(trial.agent)
        invocation = self._invocation(agent, trial.user, trial.session, json.loads(trial.state))
        tools = await agent.canonical_tools(self._kit.readonly_context(invocation))
        tool = next((each for each in tools if each.name == trial.tool), None)
        if tool is None:
            names = ", ".join(each.name for each in tools) or "none"
            raise TargetNotFound(f"{agent.name} has no tool {trial.tool!r}; its tools are: {names}")
        context = self._kit.tool_context(invocation, f"trial-{trial.trial}")
        result = await tool.run_async(args=json.loads(trial.args), tool_context=context)
        actions = context.actions.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {"result": result, "actions": {name: v for name, v in actions.items() if v}}

    async def _ask(self, trial: TryModel) -> list[Any]:
        model = self._agent(trial.agent).canonical_model
        answers = model.generate_content_async(
            _request(self._kit, json.loads(trial.request)), stream=False
        )
        return [answer async for answer in answers]

    def _agent(self, name: str) -> LlmAgent:
        matches = [agent for agent in self._llm_agents(self._runner.agent) if agent.name == name]
        if not matches:
            raise TargetNotFound(
                f"the app has no agent {name!r} with a model; it may have been renamed"
            )
        return matches[0]

    def _invocation(
        self,
        agent: LlmAgent,
        user: str = "user",
        session: str = "trial",
        state: dict[str, Any] | None = None,
    ) -> InvocationContext:
        runner = self._runner
        own = self._kit.session(
            id=session, app_name=runner.app_name, user_id=user, state=state or {}
        )
        files = self._kit.derive(TrialArtifacts, self._kit.base_artifact_service)
        below = runner.artifact_service
        return self._kit.invocation(
            runner,
            agent=agent,
            session=own,
            artifact_service=files(below, self._kit) if below else None,
        )

    def _llm_agents(self, node: BaseNode) -> Iterator[LlmAgent]:
        return llm_agents(node, self._kit)


def _instruction(agent: LlmAgent) -> str:
    """Return the instruction's text; for a function its name, as it may need a session to run."""
    value = agent.instruction
    if isinstance(value, str):
        return value
    name = value.__name__ if isinstance(value, FunctionType) else type(value).__name__
    return f"<InstructionProvider: {name}>"


def _description(agent: str, tool: BaseTool) -> dict[str, Any]:
    schema = schema_of(tool)
    return {
        "agent": agent,
        "name": tool.name,
        "description": tool.description,
        "schema": json.loads(schema) if schema else None,
        "returns": returns_of(tool),
        "effect": effect_of_tool(tool),
        "is_long_running": tool.is_long_running,
        "confirmation": confirmation_of(tool),
    }


async def _silence(agent: LlmAgent, toolset: BaseToolset, context: Any) -> dict[str, Any] | None:
    """Return why a toolset fails to list tools, so that the agent runs without them; or None.

    Most toolsets cache a successful listing. The app's code may raise anything here; the agent has
    already ignored it.
    """
    try:
        await toolset.get_tools_with_prefix(context)
    except Exception as error:  # noqa: BLE001
        message = f"{type(error).__name__}: {message_of(error)}"
        return {"agent": agent.name, "toolset": type(toolset).__name__, "error": message}
    return None


def _request(kit: Kit, value: dict[str, Any]) -> LlmRequest:
    """Build the request that was recorded, or what a person made of it. Raises ValueError."""
    settings = dict(value.get("config") or {})
    if value.get("system") is not None:
        settings["systemInstruction"] = value["system"]
    if value.get("tools"):
        settings["tools"] = value["tools"]
    return kit.llm_request(
        model=value.get("model"),
        contents=[types.Content.model_validate(each) for each in value.get("contents") or []],
        config=types.GenerateContentConfig.model_validate(settings),
    )
