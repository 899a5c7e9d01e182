"""Tools whose results arrive later."""

from functools import partial
from typing import Any

from tests.differential.case import Case, add, case
from tests.differential.differing import ORDER_OF_ANSWERS
from tests.differential.differing_resume import ANSWERS_TOLD
from tests.differential.differing_state import STATE_OF_WAITING_TOOLS
from tests.differential.script import call


def _ask(stage, result):
    def ask(question: str) -> Any:
        """Asks a human."""
        return result

    return stage.ns.LongRunningFunctionTool(ask)


@case()
async def a_long_running_tool_ends_the_turn_and_is_answered_later(stage):
    agent = stage.agent("agent", call("ask", question="?"), "Thanks.", tools=[_ask(stage, None)])
    await stage.open(agent)
    events = await stage.say()
    await stage.say(stage.answer(events[0], result="yes"))


@case()
async def a_long_running_tool_with_an_interim_result(stage):
    answers = call("ask", question="?"), "I have asked.", "Thanks.", "Bye."
    await stage.open(stage.agent("agent", *answers, tools=[_ask(stage, {"status": "pending"})]))
    events = await stage.say()
    await stage.say(stage.answer(events[0], status="done"))
    await stage.say("bye")


async def _answered_twice(stage, resumable, sequence):
    answers = call("ask", question="?"), "I have asked.", "Half way.", "Thanks.", "Bye."
    root = stage.agent("agent", *answers, tools=[_ask(stage, {"status": "pending"})])
    if sequence:
        root = stage.ns.SequentialAgent(name="seq", sub_agents=[root, stage.agent("next", "Next.")])
    await stage.open(root, resumable=resumable)
    await stage.say()
    event = stage.call("ask")
    await stage.say(stage.answer(event, status="half"))
    await stage.say(stage.answer(event, status="done"))
    await stage.say("bye")


for _name, _how in {
    "is answered twice": {"resumable": False, "sequence": False},
    "of a resumable app is answered twice": {"resumable": True, "sequence": False},
    "of a resumable sequence is answered twice": {"resumable": True, "sequence": True},
}.items():
    _differs = ANSWERS_TOLD if _how["sequence"] else None
    add(Case(f"a long running tool {_name}", partial(_answered_twice, **_how), _differs))


@case()
async def a_long_running_tool_is_answered_after_other_talk(stage):
    answers = call("ask", question="?"), "Hello.", "Thanks."
    await stage.open(stage.agent("agent", *answers, tools=[_ask(stage, None)]))
    events = await stage.say()
    await stage.say("hi meanwhile")
    await stage.say(stage.answer(events[0], result="yes"))


@case(differs=ORDER_OF_ANSWERS)
async def a_long_running_tool_beside_a_quick_one(stage):
    def look() -> str:
        return "ok"

    answers = [call("ask", question="?"), call("look")], "Waiting.", "Thanks."
    await stage.open(stage.agent("agent", *answers, tools=[_ask(stage, None), look]))
    events = await stage.say()
    await stage.say(stage.answer(events[0], result="yes"))


@case()
async def a_long_running_tool_of_a_sub_agent_is_answered(stage):
    child = stage.agent("child", call("ask", question="?"), "Thanks.", tools=[_ask(stage, None)])
    root = stage.agent("root", call("transfer_to_agent", agent_name="child"), sub_agents=[child])
    await stage.open(root)
    events = await stage.say()
    await stage.say(stage.answer(events[-1], result="yes"))
    await stage.say("more")


async def _alone_and_late(stage, result, transfers):
    """The tool's answer arrives after the agents have moved on to something else."""
    answers = [call("ask", question="?"), *(["I have asked."] if result else []), "Hello."]
    then = [call("transfer_to_agent", agent_name="child")] if transfers else ["Thanks."]
    child = stage.agent("child", "I have it.", include_contents="none")
    fields = {"tools": [_ask(stage, result)], "sub_agents": [child], "include_contents": "none"}
    await stage.open(stage.agent("agent", *answers, *then, "Bye.", **fields))
    await stage.say("ask them")
    event = stage.call("ask")
    await stage.say("hi meanwhile")
    await stage.say(stage.answer(event, result="yes"))
    await stage.say("bye")


for _result in (None, {"status": "pending"}):
    for _transfers in (False, True):
        _how = "with an interim result" if _result else "without an interim result"
        _then = " and transfers" if _transfers else ""
        add(
            Case(
                f"an agent alone with its turn is answered late {_how}{_then}",
                partial(_alone_and_late, result=_result, transfers=_transfers),
                ANSWERS_TOLD if _transfers else None,
            )
        )


@case(differs=STATE_OF_WAITING_TOOLS)
async def a_long_running_tool_writes_state_beside_a_quick_one(stage):
    def begin(tool_context: stage.ns.ToolContext) -> None:
        """Begins a job."""
        tool_context.state["job"] = 7

    def look() -> str:
        """Looks."""
        return "ok"

    tools = [stage.ns.LongRunningFunctionTool(begin), look]
    await stage.open(stage.agent("agent", [call("begin"), call("look")], "Begun.", tools=tools))
    await stage.say()
