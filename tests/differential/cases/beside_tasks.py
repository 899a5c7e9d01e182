"""Calls that a model makes beside a task: confirmations, jobs, and tools that fail."""

from functools import partial

from tests.differential.case import Case, add, case
from tests.differential.cases.delegation import ALONE
from tests.differential.cases.human import CONFIRM, guarded, look
from tests.differential.cases.tasks import finish, worker
from tests.differential.differing_humans import BESIDE_TASKS, OPEN_QUESTIONS
from tests.differential.differing_resume import RESTORED_TOOLS
from tests.differential.script import Boom, call

WORK = call("worker", request="Work.")


def order():
    """Orders."""


def _root(stage, task, tool, *answers):
    return stage.agent(
        "root", [call("pay", amount=5), WORK], *answers, tools=[tool], sub_agents=[task]
    )


async def _consent(stage, resumable, asks):
    """The user confirms a call after the task beside it is done, or while it waits for a text."""
    task = worker(stage, *(["Which?"] if asks else []), finish(result="A"))
    root = _root(stage, task, guarded(stage), "Done.", "Done, too.", "Never.")
    await stage.open(root, resumable=resumable)
    await stage.say()
    await stage.say(stage.answer(stage.call(CONFIRM), confirmed=True))
    if asks:
        await stage.say("that one")


for _resumable in (False, True):
    add(
        Case(
            f"a consent while a task waits, resumable {_resumable}",
            partial(_consent, resumable=_resumable, asks=True),
            BESIDE_TASKS,
        )
    )
add(Case("a consent after a task", partial(_consent, resumable=False, asks=False)))
add(
    Case(
        "a consent after a task in a resumable app",
        partial(_consent, resumable=True, asks=False),
        BESIDE_TASKS,
    )
)


@case(differs=RESTORED_TOOLS)
async def a_tool_fails_beside_a_task_that_asks(stage):
    failures = [Boom("boom")]

    def pay(amount: int) -> str:
        """Fails once."""
        if failures:
            raise failures.pop()
        return f"paid {amount}"

    task = worker(stage, "Which?", finish(result="A"))
    await stage.open(_root(stage, task, pay, "Done.", "Never."), resumable=True)
    await stage.say()
    await stage.resume()
    await stage.say("that one")


async def _job(stage, mode):
    """An agent that others wait for calls a job beside a tool."""
    job = stage.ns.LongRunningFunctionTool(order)
    calls = [call("order"), call("look")]
    if mode == "task":
        below = worker(stage, calls, finish(result="A"), finish(result="B"), tools=[job, look])
    else:
        below = stage.agent(
            "worker",
            calls,
            "A",
            "B",
            mode=mode,
            description="Works.",
            tools=[job, look],
            **ALONE,
        )
    await stage.open(stage.agent("root", WORK, "Done.", "Done, too.", sub_agents=[below]))
    await stage.say()
    question = next(event for event in stage.events if event.long_running_tool_ids)
    await stage.say(stage.answer(question, ready=True))


for _mode in ("task", "single_turn"):
    add(
        Case(
            f"an agent of mode {_mode} has a job beside a tool",
            partial(_job, mode=_mode),
            OPEN_QUESTIONS,
        )
    )
