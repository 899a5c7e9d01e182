"""Generated cases: graphs. The same number gives the same case on every machine."""

import random
from collections.abc import Callable
from functools import partial
from typing import Any

from tests.differential.case import Case, add
from tests.differential.differing_nodes import LOST_ORDER
from tests.differential.script import Boom

GRAPHS = 60
LOST = 39
"""The seed of the graph whose order google-adk loses."""
ROUNDS = 5
"""The number of times that the user answers or resumes."""


class Grower:
    """Grows graphs: chains, branches that join, routes, loops and nested graphs."""

    def __init__(self, stage: Any, dice: random.Random, *, asks: bool) -> None:
        self._ns = stage.ns
        self._dice = dice
        self._asks = asks
        self._count = 0

    def graph(self, depth: int = 2) -> Any:
        """Return a random workflow."""
        name = self._name("wf")
        edges: list[Any] = []
        last = self._node()
        edges.append(("START", last))
        for _ in range(self._dice.randrange(1, 4)):
            last = self._part(last, edges, depth)
        limit = self._dice.choice([None, None, 1, 2])
        return self._ns.Workflow(name=name, edges=edges, max_concurrency=limit)

    def _part(self, last: Any, edges: list[Any], depth: int) -> Any:
        kinds = ["chain", "join", "routes", "loop", *(["graph"] if depth else [])]
        return getattr(self, f"_{self._dice.choice(kinds)}")(last, edges, depth)

    def _chain(self, last: Any, edges: list[Any], _: int) -> Any:
        following = self._node()
        edges.append((last, following))
        return following

    def _join(self, last: Any, edges: list[Any], _: int) -> Any:
        ways = tuple(self._node() for _ in range(self._dice.randrange(2, 4)))
        join = self._ns.JoinNode(name=self._name("join"))
        edges.append((last, ways, join))
        return join

    def _routes(self, last: Any, edges: list[Any], _: int) -> Any:
        routes = ["a", "b", self._ns.DEFAULT_ROUTE]
        targets = {route: self._node() for route in self._dice.sample(routes, 2)}
        own_route = self._dice.choice(["a", "b", "c"])
        choose = self._function("route", lambda ctx, value: setattr(ctx, "route", own_route))
        meet = self._node()
        edges.append((last, choose, targets))
        edges.extend((target, meet) for target in targets.values())
        return meet

    def _loop(self, last: Any, edges: list[Any], _: int) -> Any:
        rounds = str(self._dice.randrange(2, 4))

        def again(ctx: Any, value: Any) -> Any:
            ctx.route = "again" if ctx.run_id < rounds else "on"
            return value

        check, back, following = self._function("check", again), self._node(), self._node()
        edges += [(last, check, {"again": back, "on": following}), (back, check)]
        return following

    def _graph(self, last: Any, edges: list[Any], depth: int) -> Any:
        inner = self.graph(depth - 1)
        edges.append((last, inner))
        return inner

    def _node(self) -> Any:
        kinds = ["give", "give", "give", "set", "say"]
        # A failure cancels parallel nodes, so each node of a failing graph does only one thing.
        kinds += ["ask", "again", "child"] if self._asks else ["flaky"]
        return getattr(self, f"_a_{self._dice.choice(kinds)}")()

    def _a_give(self) -> Any:
        number = self._dice.randrange(100)
        return self._function("give", lambda ctx, value: [number, ctx.run_id])

    def _a_set(self) -> Any:
        key = self._dice.choice(["a", "b", "user:c"])

        def write(ctx: Any, value: Any) -> Any:
            ctx.state[key] = [ctx.node.name, ctx.run_id]

        return self._function("set", write)

    def _a_say(self) -> Any:
        text = f"Word {self._dice.randrange(100)}."

        async def say(ctx):
            yield self._ns.Event(message=text)
            yield {"said": text, "run": ctx.run_id}

        return self._ns.node(say, name=self._name("say"))

    def _a_child(self) -> Any:
        async def below(node_input):
            return [node_input, "below"]

        async def child(ctx):
            return [await ctx.run_node(below, each) for each in (1, 2)]

        return self._ns.node(child, name=self._name("child"), rerun_on_resume=True)

    def _a_flaky(self) -> Any:
        failures = [1]

        async def flaky(ctx):
            if failures[0]:
                failures[0] -= 1
                raise Boom("boom")
            return "at last"

        return self._ns.node(flaky, name=self._name("flaky"))

    def _a_ask(self) -> Any:
        async def ask(ctx):
            yield self._ns.RequestInput(interrupt_id=f"{ctx.node.name}-{ctx.run_id}", message="?")

        return self._ns.node(ask, name=self._name("ask"))

    def _a_again(self) -> Any:
        async def again(ctx):
            interrupt = f"{ctx.node.name}-{ctx.run_id}"
            if interrupt not in ctx.resume_inputs:
                yield self._ns.RequestInput(interrupt_id=interrupt, message="?")
            else:
                yield [ctx.resume_inputs[interrupt]]

        return self._ns.node(again, name=self._name("again"), rerun_on_resume=True)

    def _function(self, name: str, body: Callable[[Any, Any], Any]) -> Any:
        async def function(ctx, node_input):
            return body(ctx, node_input)

        return self._ns.node(function, name=self._name(name))

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"


def questions(stage: Any) -> list[Any]:
    """Return the questions without an answer."""
    calls = {call.id: call for event in stage.events for call in event.get_function_calls()}
    closed_ids = {part.function_response.id for parts in stage.answered for part in parts}
    return [call for call in calls.values() if call.id not in closed_ids]


async def asking(stage, number):
    """Answer one or all open questions per round, until none are left."""
    dice = random.Random(f"asking graph {number}")
    stage.answered = []
    await stage.open(Grower(stage, dice, asks=True).graph(), resumable=False)
    await stage.say("go")
    for _ in range(ROUNDS):
        open_questions = sorted(questions(stage), key=lambda call: call.id)
        if not open_questions:
            return
        open_questions = [dice.choice(open_questions)] if dice.random() < 0.5 else open_questions
        types = stage.ns.types
        parts = [
            types.Part(
                function_response=types.FunctionResponse(
                    id=call.id, name=call.name, response={"result": f"to {call.id}"}
                )
            )
            for call in open_questions
        ]
        stage.answered.append(parts)
        await stage.say(parts)


async def failing(stage, number):
    """Resume after each failure, until nothing fails."""
    dice = random.Random(f"failing graph {number}")
    await stage.open(Grower(stage, dice, asks=False).graph(), resumable=False)
    await stage.say("go")
    for _ in range(ROUNDS):
        if not stage.runs[-1]["error"]:
            return
        await stage.resume()


for _number in range(GRAPHS):
    _play = asking if _number % 2 else failing
    add(
        Case(
            f"a graph that is {_play.__name__} {_number}",
            partial(_play, number=_number),
            LOST_ORDER if _number == LOST else None,
            unordered=True,
        )
    )
