"""Several open questions, answered one by one or repeatedly."""

from functools import partial

from tests.differential.case import Case, add
from tests.differential.cases.delegation import ALONE
from tests.differential.cases.human import CONFIRM, guarded
from tests.differential.differing_humans import (
    ANSWERED_AGAIN,
    ENDS_OF_WAITING_AGENTS,
    OPEN_QUESTIONS,
    WORDS_TO_WAITING_TASKS,
)
from tests.differential.differing_tools import CALLS_APART, PLACES_IN_CALLS
from tests.differential.script import call


def last(node_input):
    """Ends."""
    return f"got {node_input}"


async def _node(stage, resumable):
    """The user confirms two calls of a node, one after the other."""
    calls = [call("pay", amount=1), call("pay", amount=2)]
    payer = stage.agent("payer", calls, "Paid.", "Paid, too.", tools=[guarded(stage)])
    edges = [("START", payer, last)]
    await stage.open(stage.ns.Workflow(name="wf", edges=edges), resumable=resumable)
    await stage.say()
    question = stage.call(CONFIRM)
    await stage.say(stage.answer(question, 0, confirmed=True))
    await stage.say(stage.answer(question, 1, confirmed=True))


add(Case("one question of a node is answered", partial(_node, resumable=False), OPEN_QUESTIONS))


async def _calls_apart(stage):
    """A tool that runs an agent is called twice at once; the user confirms one of its calls."""
    inner = stage.agent(
        "inner",
        call("pay", amount=1),
        call("pay", amount=2),
        "One.",
        "Two.",
        tools=[guarded(stage)],
    )

    async def work(text: str, tool_context):
        """Works."""
        return {"said": str(await tool_context.run_node(inner, text))}

    calls = [call("work", text="one"), call("work", text="two")]
    await stage.open(stage.agent("agent", calls, "Done.", "Done.", tools=[work]))
    await stage.say()
    await stage.say(stage.answer(stage.call(CONFIRM), confirmed=True))


add(Case("a tool that runs an agent is called twice at once", _calls_apart, CALLS_APART))


async def _calls_in_turn(stage):
    """A tool that runs an agent is called again after it has returned."""
    inner = stage.agent("inner", "One.", "Two.")

    async def work(text: str, tool_context):
        """Works."""
        return {"said": str(await tool_context.run_node(inner, text))}

    calls = (call("work", text="one"), call("work", text="two"))
    await stage.open(stage.agent("agent", *calls, "Done.", tools=[work]))
    await stage.say()


add(Case("a tool that runs an agent is called twice in turn", _calls_in_turn, PLACES_IN_CALLS))


async def _again(stage, mode, resumable):
    """A sub-agent asks for a confirmation and receives it twice."""
    end = call("finish_task", result="Paid.") if mode == "task" else "Paid."
    expert = stage.agent(
        "expert",
        call("pay", amount=3),
        end,
        mode=mode,
        description="Pays.",
        tools=[guarded(stage)],
        **({} if mode == "task" else ALONE),
    )
    request = call("expert", request="Pay.")
    agent = stage.agent("agent", request, "Done.", "Once more.", sub_agents=[expert])
    await stage.open(agent, resumable=resumable)
    await stage.say()
    answer = stage.answer(stage.call(CONFIRM), confirmed=True)
    await stage.say(answer)
    await stage.say(answer)


for _mode in ("single_turn", "task"):
    for _resumable in (False, True):
        add(
            Case(
                f"a consent that a {_mode} agent asked for comes twice, resumable {_resumable}",
                partial(_again, mode=_mode, resumable=_resumable),
                ANSWERED_AGAIN,
            )
        )


async def _words(stage):
    """A task agent waits for a confirmation and first receives a text."""
    answers = call("pay", amount=3), "Do you agree?", call("finish_task", result="Paid.")
    payer = stage.agent("payer", *answers, mode="task", description="Pays.", tools=[guarded(stage)])
    agent = stage.agent("agent", call("payer", request="Pay."), "Done.", sub_agents=[payer])
    await stage.open(agent)
    await stage.say()
    await stage.say("how much?")
    await stage.say(stage.answer(stage.call(CONFIRM), confirmed=True))


add(Case("a task that waits for a consent gets words first", _words, WORDS_TO_WAITING_TASKS))


async def _one_of_two(stage):
    """A resumable agent waits for a confirmation and a result, which arrive one after the other."""

    def wait() -> None:
        """Waits."""

    tools = [guarded(stage), stage.ns.LongRunningFunctionTool(wait)]
    agent = stage.agent("agent", [call("pay", amount=3), call("wait")], "Done.", tools=tools)
    await stage.open(agent, resumable=True)
    await stage.say()
    await stage.say(stage.answer(stage.call(CONFIRM), confirmed=True))
    await stage.say(stage.answer(stage.call("wait"), index=1, result="yes"))


add(
    Case(
        "a resumable agent gets one of two answers, and then the other",
        _one_of_two,
        ENDS_OF_WAITING_AGENTS,
    )
)
