"""Random trees whose code reports each of its moments to an interrupter."""

import asyncio
import time
from random import Random
from typing import Any

from google.genai import types

from devui.runtime.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.auth import AuthConfig
from devui.runtime.events import Event, RequestInput
from devui.runtime.models import BaseLlm, LlmResponse
from devui.runtime.plugins import BasePlugin
from devui.runtime.tools import AgentTool, FunctionTool, LongRunningFunctionTool, ToolContext
from devui.runtime.workflow import BaseNode, JoinNode, RetryConfig, Workflow, node
from tests.kit.interruptions import MOMENT

ABORTED = "The invocation was aborted."
WAITS = "Not yet."
WORDS = "again"
AGAIN = RetryConfig(max_attempts=2, initial_delay=0.001, jitter=0)
LATE = 15 * MOMENT


class Stubborn(BaseLlm):
    """A model that makes its calls, repeats those that were aborted or lost, and then is done."""

    calls: list[str]
    played: Any
    me: str
    finishes: bool = False
    target: str = ""
    """The agent that it transfers to when it is done."""

    async def generate_content_async(self, llm_request, stream=False):
        self.played.look_at(self.me, llm_request)
        await self.played.interrupter.moment(f"model {self.me}")
        parts = self._answer(llm_request.contents)
        if stream and isinstance(parts, str):
            yield LlmResponse(content=types.ModelContent(parts[:2]), partial=True)
            await self.played.interrupter.moment(f"stream {self.me}")
        yield LlmResponse(content=types.ModelContent(parts))
        await self.played.interrupter.calm_moment(f"after {self.me}")

    def _answer(self, contents: list[types.Content]) -> Any:
        parts = [part for each in contents for part in each.parts or []]
        done = f"{self.me} is done"
        before = [i for i, p in enumerate(parts) if done in (p.text or "") or _finishes(p, done)]
        parts = parts[before[-1] + 1 :] if before else parts
        missing, waiting = self._missing(parts)
        if missing:
            return [self._call(name) for name in missing]
        if waiting:
            return WAITS
        if self.finishes:
            return [self._call("finish_task", result=done)]
        if self.target:
            transfer = self._call("transfer_to_agent", agent_name=self.target)
            return [types.Part(text=done), transfer]
        return done

    def _call(self, name: str, **args: str) -> types.Part:
        if not args and "_" not in name:
            args = {"request": "go"}
        function_call = types.FunctionCall(id=self.played.new_id(), name=name, args=args)
        return types.Part(function_call=function_call)

    def _missing(self, parts: list[types.Part]) -> tuple[list[str], bool]:
        """Return the calls to make, and whether the model waits for others."""
        missing, waiting = [], False
        words = max((i for i, part in enumerate(parts) if part.text == WORDS), default=-1)
        for name in self.calls:
            calls = [
                (i, c.id) for i, p in enumerate(parts) if (c := p.function_call) and c.name == name
            ]
            ids = [call_id for _, call_id in calls]
            responses = [
                r.response or {}
                for p in parts
                if (r := p.function_response) and r.name == name and (not ids or r.id == ids[-1])
            ]
            lost = not responses and not name.startswith("job_")
            if not ids or lost or (responses and _is_failure(responses[-1])):
                missing.append(name)
            elif not responses or "error" in responses[-1] or not any(responses[-1].values()):
                if calls[-1][0] < words:  # the user doesn't want to wait
                    missing.append(name)
                waiting = True
        return missing, waiting


def _is_failure(response: dict[str, Any]) -> bool:
    """Return whether it is an error, and not the placeholder until the user has agreed."""
    error = str(response.get("error", ""))
    return error == ABORTED or "failed:" in error


def _finishes(part: types.Part, done: str) -> bool:
    call = part.function_call
    return call is not None and call.name == "finish_task" and (call.args or {}) == {"result": done}


class Hooks(BasePlugin):
    """Records the invocations, and reports the moments of plugins."""

    def __init__(self, played: Any) -> None:
        super().__init__(name="hooks")
        self._played = played

    async def before_run_callback(self, *, invocation_context):
        self._played.interrupter.contexts.append(invocation_context)
        self._played.contexts.append(invocation_context)
        self._played.runs.append((id(invocation_context), "begun"))

    async def after_run_callback(self, *, invocation_context):
        self._played.runs.append((id(invocation_context), "ended"))

    async def on_run_error_callback(self, *, invocation_context, error):
        self._played.runs.append((id(invocation_context), "failed"))

    async def before_model_callback(self, *, callback_context, llm_request):
        await self._played.interrupter.moment("before model")

    async def after_tool_callback(self, *, tool, tool_args, tool_context, result):
        await self._played.interrupter.moment("after tool")

    async def on_tool_error_callback(self, *, tool, tool_args, tool_context, error):
        await self._played.interrupter.moment("tool error")

    async def on_event_callback(self, *, invocation_context, event):
        await self._played.interrupter.moment("on event")


class InterruptibleTree:
    """The random tree for a seed."""

    def __init__(self, played: Any, seed: int, *, around: str | None = None, limits: bool = True):
        self._played = played
        self._random = Random(seed)
        self._made = 0
        self._limits = limits
        kinds = ("nothing", "steps", "rounds", "both", "graph", "team")
        self.around = around or self._random.choice(kinds)
        self.heads: list[str] = []
        self.root = getattr(self, f"_{self.around}")()

    # What is around the agents

    def _nothing(self) -> Any:
        return self._head("chat")

    def _team(self) -> Any:
        """Return an agent that transfers to another."""
        target = self._head("chat")
        return self._agent("chat", 1, target=target)

    def _steps(self) -> Any:
        return SequentialAgent(name="steps", sub_agents=[self._head("chat") for _ in range(2)])

    def _rounds(self) -> Any:
        return LoopAgent(name="rounds", max_iterations=2, sub_agents=[self._head("chat")])

    def _both(self) -> Any:
        return ParallelAgent(name="both", sub_agents=[self._head("chat") for _ in range(2)])

    def _graph(self, depth: int = 1) -> Any:
        name = self._name("wf")
        last: Any = "START"
        edges: list[Any] = []
        for _ in range(self._random.randint(1, 3)):
            if self._random.random() < 0.4:
                ways = tuple(self._node(depth) for _ in range(2))
                join = JoinNode(name=self._name("join"))
                edges.append((last, ways, join))
                last = join
            else:
                following = self._node(depth)
                edges.append((last, following))
                last = following
        edges.append((last, self._function("last" if depth == 1 else self._name("last"))))
        if depth == 1:
            self.heads.append("last")
        return Workflow(name=name, edges=edges)

    def _node(self, depth: int) -> Any:
        kinds = ["function", "function", "plain", "flow", "asks", "child", "agent"]
        kind = self._random.choice([*kinds, *(["graph"] if depth else [])])
        if kind == "graph":
            return self._graph(depth - 1)
        if kind == "agent":
            return self._agent("expert" if self._random.random() < 0.5 else "task", 1)
        return getattr(self, f"_a_{kind}")()

    def _a_function(self) -> BaseNode:
        return self._function(self._name("f"))

    def _function(self, name: str) -> BaseNode:
        played = self._played

        async def work(ctx):
            await played.interrupter.moment(f"node {name}")
            played.note(name)
            ctx.state[f"n_{name}"] = True
            return f"{name} is done"

        return node(work, name=name, **self._limited())

    def _a_plain(self) -> BaseNode:
        played, name = self._played, self._name("p")

        def work(node_input: Any):
            played.interrupter.moment_in_thread(f"node {name}")
            played.note(name)
            return name

        return node(work, name=name, **self._limited())

    def _a_flow(self) -> BaseNode:
        played, name = self._played, self._name("y")

        async def work():
            yield Event(message=f"{name} begins")
            await played.interrupter.moment(f"node {name}")
            yield Event(message=f"{name} goes on")
            played.note(name)
            yield {"by": name}

        return node(work, name=name, **self._limited())

    def _a_child(self) -> BaseNode:
        played, name = self._played, self._name("c")
        below = self._a_function()

        async def work(ctx):
            outputs = [await ctx.run_node(below, each) for each in (1, 2)]
            await played.interrupter.moment(f"node {name}")
            played.note(name)
            return outputs

        return node(work, name=name, rerun_on_resume=True, **self._limited())

    def _a_asks(self) -> BaseNode:
        played, name = self._played, self._name("q")

        @node(name=name, rerun_on_resume=True)
        async def asks(ctx, node_input):
            answers = list(ctx.resume_inputs.values())
            await played.interrupter.moment(f"node {name}")
            if not answers:
                yield RequestInput(
                    interrupt_id=f"{name}-{ctx.run_id}-{ctx.invocation_id}", message=name
                )
                return
            played.note(name)
            yield str(answers[0])

        return asks

    # Agents

    def _head(self, kind: str) -> LlmAgent:
        agent = self._agent(kind, 0)
        self.heads.append(agent.name)
        return agent

    def _agent(self, kind: str, depth: int, target: Any = None) -> LlmAgent:
        name, random = self._name("a"), self._random
        kinds = self._kinds(kind, depth)
        below = [(each, self._agent(each, depth + 1)) for each in kinds if each in _MODES]
        own: list[Any] = [
            self._tool(each, f"{each}_{name}{n}")
            for n, each in enumerate(kinds)
            if each not in _MODES
        ]
        own += [AgentTool(agent) for each, agent in below if each == "tool"]
        experts = [agent for each, agent in below if each != "tool"]
        calls = [tool.name for tool in own] + [each.name for each in experts]
        random.shuffle(calls)
        model = Stubborn(
            model="stubborn",
            calls=calls,
            played=self._played,
            me=name,
            finishes=kind == "task",
            target=target.name if target else "",
        )
        mode = _MODES.get(kind)
        return LlmAgent(
            name=name,
            description="Works.",
            model=model,
            tools=own,
            sub_agents=[*experts, *([target] if target else [])],
            output_key=f"s_{name}" if random.random() < 0.3 and kind == "chat" else None,
            **({"mode": mode} if mode else {}),
            **self._limited(),
            **{f"{where}_callback": self._callback(where) for where in _CALLBACKS},
        )

    def _kinds(self, kind: str, depth: int) -> list[str]:
        """Return what the agent calls: tools, and agents unless it is too deep in the tree."""
        kinds = [*_TOOLS, *(_ASKING if kind != "tool" else ())]
        kinds += _BELOW[kind] if depth < 2 else ()
        number = self._random.randint(0 if depth else 1, 3)
        return [self._random.choice(kinds) for _ in range(number)]

    def _callback(self, where: str) -> Any:
        played = self._played
        if self._random.random() < 0.85:
            return None

        async def callback(*_: Any, **__: Any) -> None:
            await played.interrupter.moment(where)

        def plain(*_: Any, **__: Any) -> None:
            played.interrupter.moment_in_thread(where)

        return self._random.choice([callback, plain])

    def _limited(self) -> dict[str, Any]:
        random = self._random
        if not self._limits or random.random() < 0.6:
            return {}
        return random.choice(
            [{"timeout": LATE}, {"retry_config": AGAIN}, {"timeout": LATE, "retry_config": AGAIN}]
        )

    def _tool(self, kind: str, name: str) -> FunctionTool:
        played = self._played
        config = AuthConfig.model_validate(
            {"auth_scheme": {"type": "apiKey", "in": "header", "name": "X"}, "credential_key": name}
        )

        async def work(tool_context: ToolContext) -> dict[str, Any] | None:
            if kind == "login" and tool_context.get_auth_response(config) is None:
                return tool_context.request_credential(config)
            await played.called(tool_context)
            try:
                await played.interrupter.moment(f"tool {name}")
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if kind == "careless" and task.cancelling():
                    raise ValueError("careless") from None
                if kind == "clean":
                    await asyncio.sleep(0.002)
                if kind != "stubborn" or not task.cancelling():
                    raise
            played.note(name)
            tool_context.state[f"t_{name}"] = True
            return None if kind == "job" else {"done": name}

        def plain(tool_context: ToolContext) -> dict[str, Any]:
            played.interrupter.moment_in_thread(f"tool {name}")
            played.note(name)
            tool_context.state[f"t_{name}"] = True
            if kind == "thread":
                time.sleep(0.001)
            return {"done": name}

        function = plain if kind in ("plain", "thread") else work
        function.__name__ = name
        if kind == "job":
            return LongRunningFunctionTool(function)
        return FunctionTool(function, require_confirmation=kind == "consent")

    def _name(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}{self._made}"


_MODES = {"task": "task", "expert": "single_turn", "tool": None}
_TOOLS = ("plain", "thread", "slow", "clean", "careless", "stubborn")
_ASKING = ("consent", "job", "login")
"""Tools whose calls the user answers."""
_BELOW: dict[str, tuple[str, ...]] = {
    "chat": ("task", "expert", "tool"),
    "task": ("task", "expert", "tool"),
    "expert": ("expert", "tool"),
    "tool": (),
}
"""The kinds of agents that each kind of agent calls."""
_CALLBACKS = ("before_agent", "after_agent", "after_model", "before_tool")
