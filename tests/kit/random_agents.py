"""Random trees in which tools fail, agents wait, and models delegate tasks."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.models import LlmResponse
from devui.runtime.tools import AgentTool
from tests.kit.waiting_agents import (
    FAILURE,
    AgentFactory,
    Caller,
    Play,
    both,
    request_of,
    rounds,
    steps,
)

ASKS = "Which size?"
SIZE = "big"
_CALM = ("plain", "consent", "job", "login")
_WILD = ("flaky", "shaky")
"""Tools that fail at their first run; the second kind needs the user's consent first."""
_MODES = {"task": {"mode": "task"}, "expert": {"mode": "single_turn"}}
_AGENTS = ("task", "task", "expert", "tool")


class Patient(Caller):
    """A model that makes its calls once, and keeps waiting if it is asked too early."""

    asks: bool = False
    """Whether it starts with a question to the user, as text."""

    async def generate_content_async(self, llm_request, stream=False):
        yield LlmResponse(content=types.ModelContent(self._answer(llm_request.contents)))

    def _answer(self, contents: list[types.Content]) -> Any:
        parts = [part for each in contents for part in each.parts or []]
        done = f"{self.me} is done"
        rounds_before = [i for i, part in enumerate(parts) if part.text == done]
        parts = parts[rounds_before[-1] + 1 :] if rounds_before else parts
        if self.asks and not any(part.text == SIZE for part in parts):
            self.log[f"{self.me} asks"] += 1
            return ASKS
        if self.calls and not _call_names(parts) & set(self.calls):
            return [_call(name, request_of(name)) for name in self.calls]
        if not self._is_told(parts):
            assert not self.finishes, "a task is asked too early"
            return "Not yet."
        self.log[done] += 1
        return [_call("finish_task", {"result": done})] if self.finishes else done

    def _is_told(self, parts: Sequence[types.Part]) -> bool:
        responses = [each for part in parts if (each := part.function_response)]
        results = {each.name: each.response or {} for each in responses}
        return all(_is_result(results.get(name, {})) for name in self.calls)


def _is_result(response: dict[str, Any]) -> bool:
    """Return whether it is a result, and not the placeholder while the user is asked."""
    return "error" not in response and any(response.values())


def _call_names(parts: Sequence[types.Part]) -> set[str | None]:
    return {call.name for part in parts if (call := part.function_call)}


def _call(name: str, args: dict[str, str]) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


class RandomAgents:
    """The random tree for a seed, and how often each thing in it must be done."""

    def __init__(self, factory: AgentFactory, seed: int, *, resumable: bool) -> None:
        self.due: Counter[str] = Counter()
        self._factory = factory
        self._random = Random(seed)
        self._made = 0
        around = self._random.choice(["nothing", "steps", "rounds", "both"])
        self._times = 2 if around == "rounds" else 1
        # Resuming after a failure needs checkpoints, except below a root that is a model agent.
        wild = resumable or around == "nothing"
        self.root = self._around(around, self._agent("chat", 0, wild=wild))

    def _around(self, around: str, agent: LlmAgent) -> Any:
        if around == "nothing":
            return agent
        if around == "rounds":
            return rounds(agent)
        if around == "steps":  # in `both`, a failure of the agent stops the tail
            self.due.update(["tail is done", "plain_tail0"])
        tail = self._factory.agent("tail", "plain")
        return steps(agent, tail) if around == "steps" else both(agent, tail)

    def _agent(self, kind: str, depth: int, *, wild: bool = False) -> LlmAgent:
        """Return an agent that calls one to three things; if `wild`, also tools that fail."""
        self._made += 1
        name = f"a{self._made}"
        tools = ("plain",) if kind == "tool" else (*_CALM, *(_WILD if wild else ()))
        agents = {"chat": _AGENTS, "task": _AGENTS, "expert": ("expert", "tool"), "tool": ()}
        kinds = [*tools, *(agents[kind] if depth < 2 else ())]
        members = [self._random.choice(kinds) for _ in range(self._random.randint(1, 3))]
        children = [
            (each, self._below(each, depth + 1, wild)) for each in members if each in _AGENTS
        ]
        agent = self._factory.agent(
            name,
            *[each for each in members if each in tools],
            experts=[below for each, below in children if each != "tool"],
            tools=[AgentTool(below) for each, below in children if each == "tool"],
            **_MODES.get(kind, {}),
        )
        self._random.shuffle(agent.model.calls)
        if kind == "task" and self._random.random() < 0.5:
            agent.model.asks = True
            self.due[f"{name} asks"] += self._times
        for done in (f"{name} is done", *(tool.name for tool in agent.tools if "_" in tool.name)):
            # When another call fails beside them, what is in a tool starts over, and an expert is
            # stopped in its work, with a job that may be answered before it was started.
            stopped = kind == "expert" and done.startswith(("job_", "plain_"))
            self.due[done] += 0 if kind == "tool" or stopped else self._times
        return agent

    def _below(self, kind: str, depth: int, wild: bool) -> LlmAgent:
        # An expert's failure doesn't fail the run: the agent above is told about it.
        return self._agent(kind, depth, wild=wild and kind == "task")


class RandomPlay(Play):
    """A session with random agents, in which the user answers in any order."""

    def __init__(self, seed: int, *, resumable: bool, leaving: int = 0) -> None:
        """Start with the tree for the seed; up to `leaving` runs may break off after some event."""
        super().__init__(self._grown, resumable=resumable)
        self.factory = AgentFactory(caller=Patient)
        self.failed = False
        """Whether the last message led to a failure."""
        self._due: Counter[str] = Counter()
        self._seed = seed
        self._random = Random(seed)
        self._resumable = resumable
        self._told = 0
        self._leaving = leaving
        self._leaves = bool(leaving)

    @property
    def _question_count(self) -> int:
        parts = [part for each in self.events if each.content for part in each.content.parts or []]
        return sum(part.text == ASKS for part in parts)

    @property
    def wrong(self) -> dict[str, int]:
        """The counts of what was done too often or not often enough."""
        done, due = self.factory.log, self._due
        short = {what: done[what] for what in due if done[what] < due[what]}
        if self._leaves:  # what a run was doing when it broke off is done again
            return {what: n for what, n in short.items() if not what.startswith("job_")}
        return short | {what: done[what] for what in due if 0 < due[what] < done[what]}

    async def go_on(self) -> bool:
        """Answer a question, or resume after a failure; return False if nothing is left."""
        words = self._question_count - self._told
        choices = [*sorted(self.open), *[SIZE] * words, *["resume"] * self.failed]
        if self._leaves and self.failed:
            choices = ["resume"]  # some questions may not have been asked yet
        if not choices:
            return False
        choice = self._random.choice(choices)
        await self._do(choice)
        return True

    async def run(self, **what: Any) -> None:
        """Run a new Runner; a tool may fail, or the run may break off."""
        leave = self._random.randint(-4, 4) if self._leaving else 0
        before = len(self.events)
        self.failed = False
        try:
            await super().run(leave=leave, **what)
        except RuntimeError as error:
            if str(error) != FAILURE:
                raise
            self.failed = True
        if leave > 0 and len(self.events) == before + leave:
            self.failed = True
            self._leaving -= 1

    async def _do(self, choice: str) -> None:
        if choice == "resume":
            await self.run(invocation_id=self.events[0].invocation_id)
        elif choice == SIZE:
            self._told += 1
            await self.say(types.UserContent(SIZE))
        else:
            await self.answer(choice)

    def _grown(self, factory: AgentFactory) -> Any:
        agents = RandomAgents(factory, self._seed, resumable=self._resumable)
        self._due = agents.due
        return agents.root
