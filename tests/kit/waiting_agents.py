"""Trees of agents that wait for the user, and counts of what they have done."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from devui.runtime.agents import LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.auth import AuthConfig
from devui.runtime.events import Event, RequestInput
from devui.runtime.models import BaseLlm, LlmResponse
from devui.runtime.runners import Runner
from devui.runtime.sessions import InMemorySessionService
from devui.runtime.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from devui.runtime.workflow import BaseNode, Workflow, node

WHERE = {"user_id": "user", "session_id": "s"}


class Caller(BaseLlm):
    """A model that makes all its calls at once, and is done when it has their results."""

    calls: list[str]
    log: Any
    me: str
    finishes: bool = False
    """Whether it carries out a task, and must report when it is done."""

    async def generate_content_async(self, llm_request, stream=False):
        names, responses = _since_calls(llm_request.contents)
        if self.calls and not names & set(self.calls):
            calls = [types.FunctionCall(name=name, args=request_of(name)) for name in self.calls]
        else:
            assert all(each.response and "error" not in each.response for each in responses), (
                responses
            )
            assert len(responses) == len(self.calls), responses
            self.log[f"{self.me} is done"] += 1
            done = {"result": f"{self.me} is done"}
            calls = [types.FunctionCall(name="finish_task", args=done)] if self.finishes else []
        answer = [types.Part(function_call=each) for each in calls] or f"{self.me} is done"
        yield LlmResponse(content=types.ModelContent(answer))


def _since_calls(
    contents: list[types.Content],
) -> tuple[set[str | None], list[types.FunctionResponse]]:
    """Return what the model called in its latest turn, and the responses since."""
    own = max((i for i, each in enumerate(contents) if each.role == "model"), default=0)
    names = {part.function_call.name for part in contents[own].parts if part.function_call}
    parts = [part for content in contents[own:] for part in content.parts or []]
    return names, [each for part in parts if (each := part.function_response)]


def request_of(name: str) -> dict[str, str]:
    """Return the arguments with which a model calls something."""
    return {} if "_" in name else {"request": "go"}  # the names of tools have an underscore


_ASKING = ("consent", "shaky")
"""Tools that need the user's consent."""
_FAILING = ("flaky", "shaky")
"""Tools that fail at their first run."""
FAILURE = "It fails once."
"""The message of their error."""


@dataclass
class AgentFactory:
    """Makes trees of agents, and counts what they do."""

    log: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    """How often the failing tools were run; each fails once."""
    caller: type[Caller] = Caller
    """The class of the agents' models."""

    def agent(
        self,
        name: str,
        *kinds: str,
        experts: Sequence[LlmAgent] = (),
        runs: Any = None,
        tools: Sequence[Any] = (),
        **fields: Any,
    ) -> LlmAgent:
        """Return an agent that calls a tool of each kind, its experts, and one that runs a node."""
        own = [self._tool(kind, f"{kind}_{name}{number}") for number, kind in enumerate(kinds)]
        if runs is not None:
            own.append(self.runner(f"run_{name}", runs))
        own += tools
        calls = [tool.name for tool in own] + [expert.name for expert in experts]
        finishes = fields.get("mode") == "task"
        model = self.caller(model="caller", calls=calls, log=self.log, me=name, finishes=finishes)
        return LlmAgent(
            name=name,
            description="Works.",
            model=model,
            tools=own,
            sub_agents=list(experts),
            **fields,
        )

    def expert(self, name: str, *kinds: str, experts: Sequence[LlmAgent] = ()) -> LlmAgent:
        return self.agent(name, *kinds, experts=experts, mode="single_turn")

    def _tool(self, kind: str, name: str) -> FunctionTool:
        config = AuthConfig.model_validate(
            {
                "auth_scheme": {"type": "apiKey", "in": "header", "name": "X"},
                "credential_key": name,
            }
        )

        def work(tool_context: ToolContext) -> dict[str, Any] | None:
            if kind == "login" and tool_context.get_auth_response(config) is None:
                return tool_context.request_credential(config)
            if kind in _FAILING:
                self.failed[name] += 1
                if self.failed[name] == 1:
                    raise RuntimeError(FAILURE)
            self.log[name] += 1
            return None if kind == "job" else {"done": name}

        work.__name__ = name
        if kind == "job":
            return LongRunningFunctionTool(work)
        return FunctionTool(work, require_confirmation=kind in _ASKING)

    def runner(self, name: str, below: Any) -> FunctionTool:
        """Return a tool that runs a node."""

        async def run(tool_context: ToolContext) -> dict[str, Any]:
            result = await tool_context.run_node(below, node_input="go")
            self.log[name] += 1
            return {"result": str(result)}

        run.__name__ = name
        tool = FunctionTool(run)
        tool.node = below
        return tool

    def question(self, name: str) -> BaseNode:
        """Return a node that asks the user something, each time with the same id."""

        @node(name=name, rerun_on_resume=True)
        async def asks(ctx, node_input):
            answers = list(ctx.resume_inputs.values())
            if not answers:
                yield RequestInput(interrupt_id=name, message=name)
                return
            self.log[name] += 1
            yield str(answers[0])

        return asks

    def last(self, node_input: Any) -> str:
        self.log["last"] += 1
        return "last"


def chain(factory: AgentFactory, *nodes: Any) -> Workflow:
    return Workflow(name="wf", edges=[("START", *nodes, factory.last)])


def both(*agents: Any, name: str = "both") -> ParallelAgent:
    return ParallelAgent(name=name, sub_agents=list(agents))


def steps(*agents: Any, name: str = "steps") -> SequentialAgent:
    return SequentialAgent(name=name, sub_agents=list(agents))


def rounds(*agents: Any, name: str = "rounds") -> LoopAgent:
    return LoopAgent(name=name, max_iterations=2, sub_agents=list(agents))


def question_of(call: types.FunctionCall) -> str | None:
    """Return the tool of a question, and its arguments; None if the call isn't a question."""
    args = call.args or {}
    if call.name == "adk_request_confirmation":
        original = args["originalFunctionCall"]
        return " ".join([original["name"], *map(str, (original.get("args") or {}).values())])
    if call.name == "adk_request_credential":
        return args["authConfig"]["credentialKey"]
    if call.name == "adk_request_input":
        return args["message"]
    return call.name if str(call.name).startswith("job_") else None


def reply(call: types.FunctionCall) -> types.Part:
    """Return the user's answer to a question."""
    response: dict[str, Any] = {"confirmed": True}
    if call.name == "adk_request_credential":
        key = {"authType": "apiKey", "apiKey": "k"}
        response = {**call.args["authConfig"], "exchangedAuthCredential": key}
    elif call.name != "adk_request_confirmation":
        response = {"result": "ready"}
    function_response = types.FunctionResponse(id=call.id, name=call.name, response=response)
    return types.Part(function_response=function_response)


class Play:
    """A session in which each message comes to a new Runner with a new tree, as after a restart."""

    def __init__(self, make: Callable[[AgentFactory], Any], *, resumable: bool) -> None:
        self.factory = AgentFactory()
        self.asked: dict[str, types.FunctionCall] = {}
        """The latest question about each tool."""
        self.open: set[str] = set()
        self.events: list[Event] = []
        self._make = make
        self._settings = ResumabilityConfig(is_resumable=resumable)
        self._service = InMemorySessionService()

    async def begin(self) -> None:
        await self._service.create_session(app_name="app", **WHERE)
        await self.say(types.UserContent("go"))

    async def answer(self, *names: str) -> None:
        """Answer these questions in one message."""
        self.open -= set(names)
        self._latest = types.UserContent([reply(self.asked[name]) for name in names])
        await self.say(self._latest)

    async def repeat(self) -> None:
        """Send the latest answers once more."""
        await self.say(self._latest)

    async def say(self, message: types.Content) -> None:
        """Send a message to a new Runner, and note what is asked."""
        await self.run(new_message=message)

    async def run(self, *, leave: int = 0, **what: Any) -> None:
        """Run a new Runner on a message or an invocation, and note what is asked.

        `leave`: the number of events after which nobody listens any more; 0 stays to the end.
        """
        root = self._make(self.factory)
        app = App(name="app", root_agent=root, resumability_config=self._settings)
        runner = Runner(app=app, session_service=self._service)
        async with aclosing(runner.run_async(**WHERE, **what)) as events:
            async for event in events:
                self._note(event)
                leave -= 1
                if leave == 0:
                    return

    def _note(self, event: Event) -> None:
        self.events.append(event)
        calls = event.get_function_calls()
        questions = {name: call for call in calls if (name := question_of(call))}
        self.asked |= questions
        self.open |= questions.keys()


async def played(
    make: Callable[[AgentFactory], Any], plan: list[list[str]], *, resumable: bool
) -> Counter:
    """Return all that was done if the questions are answered as planned, message by message."""
    play = Play(make, resumable=resumable)
    await play.begin()
    for names in plan:
        await play.answer(*names)
    assert not play.open, "it has asked for more"
    return play.factory.log
