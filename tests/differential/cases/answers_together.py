"""Parallel agents that wait, and a message that answers them all."""

from functools import partial

from tests.differential.case import Case, add
from tests.differential.cases.delegation import ALONE
from tests.differential.cases.human import CONFIRM, guarded
from tests.differential.differing_humans import ANSWERED_TOGETHER
from tests.differential.script import call


def wait() -> None:
    """Waits for somebody."""


def _waiting(stage, name, what, **fields):
    if what == "consent":
        tool, asks = guarded(stage), call("pay", amount=3)
    else:
        tool, asks = stage.ns.LongRunningFunctionTool(wait), call("wait")
    return stage.agent(name, asks, f"{name} is done.", tools=[tool], **fields)


def _parallel(stage, what):
    agents = [_waiting(stage, name, what) for name in ("one", "two")]
    return stage.ns.ParallelAgent(name="both", sub_agents=agents)


def _experts(stage, what):
    fields = {"mode": "single_turn", "description": "Knows.", **ALONE}
    experts = [_waiting(stage, name, what, **fields) for name in ("one", "two")]
    asks = [call(each.name, request="What?") for each in experts]
    return stage.agent("agent", asks, "Done.", sub_agents=experts)


def _ways(stage, what):
    join = stage.ns.JoinNode(name="join")
    agents = tuple(_waiting(stage, name, what) for name in ("one", "two"))
    return stage.ns.Workflow(name="wf", edges=[("START", agents, join)])


def _tasks(stage, what):
    """Return parallel agents that have each delegated a task."""

    def above(name):
        asks = call("wait") if what == "a result" else call("pay", amount=3)
        tool = stage.ns.LongRunningFunctionTool(wait) if what == "a result" else guarded(stage)
        finish = call("finish_task", result="Done.")
        below = stage.agent(name, asks, finish, mode="task", description="Works.", tools=[tool])
        request = call(name, request="What?")
        return stage.agent(f"above_{name}", request, f"{name} is done.", sub_agents=[below])

    return stage.ns.ParallelAgent(name="both", sub_agents=[above(each) for each in ("one", "two")])


async def _together(stage, make_agent, what, resumable):
    await stage.open(make_agent(stage, what), resumable=resumable)
    await stage.say()
    name, answer = (CONFIRM, {"confirmed": True}) if what == "consent" else ("wait", {"ok": 1})
    questions = [
        event for event in stage.events if any(c.name == name for c in event.get_function_calls())
    ]
    await stage.say([part for event in questions for part in stage.answer(event, **answer).parts])


for _made in (_parallel, _experts, _ways, _tasks):
    for _what in ("consent", "a result"):
        for _resumable in (False, True):
            _how = f"{_made.__name__.strip('_')}, {_what}, resumable {_resumable}"
            add(
                Case(
                    f"answered in one message: {_how}",
                    partial(_together, make_agent=_made, what=_what, resumable=_resumable),
                    ANSWERED_TOGETHER,
                    unordered=True,
                )
            )
