"""Trials: a tool or a model called by itself, beside all runs (dev-uis 4.1, features 19 and 47).

No plugin and no callback sees it, so nothing is held and nothing recorded. A tool gets a context
over a session of its own, with a copy of the state: what it writes is told and kept nowhere.
"""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, assert_never

from google.genai import types

from devui.runtime.agents.context import Context
from devui.runtime.agents.invocation_context import InvocationContext, new_invocation_context_id
from devui.runtime.agents.llm_agent import LlmAgent
from devui.runtime.agents.readonly_context import ReadonlyContext
from devui.runtime.events.event import Event
from devui.runtime.invocations.toolsets import nodes_below
from devui.runtime.memory.in_memory_memory_service import InMemoryMemoryService
from devui.runtime.mistakes import message_of
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.runners import Runner
from devui.runtime.sessions.in_memory_session_service import InMemorySessionService
from devui.runtime.sessions.session import Session
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.base_toolset import BaseToolset, toolsets_of
from devui.runtime.tools.tool_confirmation import ToolConfirmation
from devui.runtime.workflow.base_node import BaseNode
from devui.wire.trials import DescribeTools, Trial, Tried, TryModel, TryTool
from devui.worker.faults import agent_error
from devui.worker.jsontext import as_json
from devui.worker.output import current_run
from devui.worker.schemas import schema_of
from devui.worker.triedfiles import TriedFiles


class NotThere(LookupError):
    """The app has no such agent or tool any more."""


class Trials:
    """A task for each; `send` tells what came of it."""

    def __init__(self, runner: Runner, send: Callable[[Tried], None], agents: Path) -> None:
        self._runner = runner
        self._send = send
        self._agents = agents
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def start(self, trial: Trial) -> None:
        """Begin one; it always ends in a `Tried`, unless it is stopped."""
        task = asyncio.get_running_loop().create_task(self._try(trial), name=f"trial {trial.trial}")
        self._tasks[trial.trial] = task
        task.add_done_callback(lambda _: self._tasks.pop(trial.trial, None))

    def stop(self, trial: int) -> None:
        """Cancel one; one that is over is left alone."""
        if task := self._tasks.get(trial):
            task.cancel("nobody waits for the trial")

    async def stop_all(self) -> None:
        """Cancel all and wait for their ends."""
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
        except BaseException as raised:  # noqa: BLE001
            told = agent_error(raised, self._agents)
            error = json.dumps(
                {
                    "type": told.type,
                    "message": told.message,
                    "file": told.file,
                    "line": told.line,
                    "traceback": told.traceback,
                }
            )
        seconds = time.perf_counter() - began
        self._send(Tried(trial=trial.trial, seconds=seconds, result=result, error=error))

    async def _result(self, trial: Trial) -> Any:
        match trial:
            case DescribeTools():
                return await self._tools()
            case TryTool():
                return await self._call(trial)
            case TryModel():
                return await self._ask(trial)
            case _:
                assert_never(trial)

    async def _tools(self) -> dict[str, list[dict[str, Any]]]:
        tools, silent = [], []
        for agent in _llm_agents(self._runner.agent):
            context = ReadonlyContext(self._invocation(agent))
            listed = await agent.canonical_tools(context)
            tools += [_described(agent.name, tool) for tool in listed]
            asked = toolsets_of(agent.tools)
            silent += [told for each in asked if (told := await _silence(agent, each, context))]
        return {"tools": tools, "silent": silent}

    async def _call(self, trial: TryTool) -> dict[str, Any]:
        agent = self._agent(trial.agent)
        invocation = self._invocation(agent, trial.user, trial.session, json.loads(trial.state))
        tools = await agent.canonical_tools(ReadonlyContext(invocation))
        tool = next((each for each in tools if each.name == trial.tool), None)
        if tool is None:
            names = ", ".join(each.name for each in tools) or "none"
            raise NotThere(f"{agent.name} has no tool {trial.tool!r}; its tools are: {names}")
        context = Context(
            invocation,
            function_call_id=f"trial-{trial.trial}",
            tool_confirmation=ToolConfirmation(confirmed=True),
        )
        result = await tool.run_async(args=json.loads(trial.args), tool_context=context)
        actions = context.actions.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {"result": result, "actions": {name: v for name, v in actions.items() if v}}

    async def _ask(self, trial: TryModel) -> list[Any]:
        model = self._agent(trial.agent).canonical_model
        answers = model.generate_content_async(_request(json.loads(trial.request)), stream=False)
        return [answer async for answer in answers]

    def _agent(self, name: str) -> LlmAgent:
        found = [agent for agent in _llm_agents(self._runner.agent) if agent.name == name]
        if not found:
            raise NotThere(f"the app has no agent {name!r} with a model; it may have been renamed")
        return found[0]

    def _invocation(
        self,
        agent: LlmAgent,
        user: str = "user",
        session: str = "trial",
        state: dict[str, Any] | None = None,
    ) -> InvocationContext:
        runner = self._runner
        own = Session(id=session, app_name=runner.app_name, user_id=user, state=state or {})
        files = runner.artifact_service
        return InvocationContext(
            artifact_service=TriedFiles(files) if files else None,
            session_service=InMemorySessionService(),
            memory_service=InMemoryMemoryService(),
            credential_service=runner.credential_service,
            invocation_id=new_invocation_context_id(),
            agent=agent,
            session=own,
            emit=_dropped,
        )


async def _dropped(event: Event) -> None:
    """What a tool tells while it runs goes nowhere."""


def _described(agent: str, tool: BaseTool) -> dict[str, Any]:
    schema = schema_of(tool)
    return {
        "agent": agent,
        "name": tool.name,
        "description": tool.description,
        "schema": json.loads(schema) if schema else None,
        "effect": tool.effect,
    }


async def _silence(
    agent: LlmAgent, toolset: BaseToolset, context: ReadonlyContext
) -> dict[str, Any] | None:
    """Why a toolset lists no tools: the agent runs without them. One that did is not asked again.

    Code of the app may raise anything here; the agent has taken it already.
    """
    try:
        await toolset.get_tools_with_prefix(context)
    except Exception as error:  # noqa: BLE001
        told = f"{type(error).__name__}: {message_of(error)}"
        return {"agent": agent.name, "toolset": type(toolset).__name__, "error": told}
    return None


def _llm_agents(node: BaseNode) -> Iterator[LlmAgent]:
    if isinstance(node, LlmAgent):
        yield node
    for below in nodes_below(node):
        yield from _llm_agents(below)


def _request(told: dict[str, Any]) -> LlmRequest:
    """The request that was recorded, or what a person made of it; raises ValueError."""
    settings = dict(told.get("config") or {})
    if told.get("system") is not None:
        settings["systemInstruction"] = told["system"]
    if told.get("tools"):
        settings["tools"] = told["tools"]
    return LlmRequest(
        model=told.get("model"),
        contents=[types.Content.model_validate(each) for each in told.get("contents") or []],
        config=types.GenerateContentConfig.model_validate(settings),
    )
