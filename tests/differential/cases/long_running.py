"""Tools whose results come later."""

from typing import Any

from tests.differential.case import case
from tests.differential.differing import ORDER_OF_ANSWERS
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


@case()
async def a_long_running_tool_is_answered_twice(stage):
    answers = call("ask", question="?"), "I have asked.", "Half way.", "Thanks."
    await stage.open(stage.agent("agent", *answers, tools=[_ask(stage, {"status": "pending"})]))
    events = await stage.say()
    await stage.say(stage.answer(events[0], status="half"))
    await stage.say(stage.answer(events[0], status="done"))


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
