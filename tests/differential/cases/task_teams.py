"""Agents that delegate tasks beside tools, to each other, and beside agents of other modes."""

from tests.differential.case import case
from tests.differential.cases.tasks import ALONE, Bill, Order, finish, look, worker
from tests.differential.differing import ORDER_OF_ANSWERS
from tests.differential.differing_tasks import (
    CHAT_BELOW_TASKS,
    LEAVING_TASKS,
    SINGLE_TURN_BELOW_TASKS,
    SINGLE_TURN_ERRORS,
    TASK_AFTER_TRANSFER,
    TASK_OF_THE_ROOT,
    TOOLS_BESIDE_TASKS,
)
from tests.differential.script import Raise, Say, call, transfer


@case()
async def finishing_beside_another_call(stage):
    task = worker(stage, [call("look"), finish(result="looked")], tools=[look])
    root = stage.agent("root", call("worker", request="Work."), "Thanks.", sub_agents=[task])
    await stage.open(root)
    await stage.say()


@case()
async def two_tasks_one_after_the_other(stage):
    one = worker(stage, "What about one?", finish(result="one is done"), name="one")
    two = worker(stage, "What about two?", finish(result="two is done"), name="two")
    root = stage.agent(
        "root",
        call("one", request="Begin."),
        call("two", request="Go on."),
        "Both done.",
        sub_agents=[one, two],
    )
    await stage.open(root)
    await stage.say()
    await stage.say("first")
    await stage.say("second")


@case()
async def two_tasks_in_one_answer(stage):
    one = worker(stage, "What about one?", finish(result="one is done"), name="one")
    two = worker(stage, "What about two?", finish(result="two is done"), name="two")
    root = stage.agent(
        "root",
        [call("one", request="This."), call("two", request="That.")],
        "Both done.",
        sub_agents=[one, two],
    )
    await stage.open(root)
    await stage.say()
    await stage.say("first")
    await stage.say("second")
    await stage.say("more")


@case()
async def one_agent_for_two_tasks_in_one_answer(stage):
    task = worker(stage, "Which?", finish(result="A"), "And which?", finish(result="B"))
    root = stage.agent(
        "root",
        [call("worker", request="First."), call("worker", request="Second.")],
        "Both done.",
        sub_agents=[task],
    )
    await stage.open(root)
    await stage.say()
    await stage.say("a")
    await stage.say("b")


@case(differs=TOOLS_BESIDE_TASKS)
async def a_task_beside_a_tool(stage):
    task = worker(stage, "Which?", finish(result="A"))
    root = stage.agent(
        "root",
        [call("look"), call("worker", request="Work.")],
        "Both done.",
        tools=[look],
        sub_agents=[task],
    )
    await stage.open(root)
    await stage.say()
    await stage.say("a")


@case()
async def a_task_and_a_tool_in_turns(stage):
    task = worker(stage, finish(result="A"), "Which?", finish(result="B"))
    root = stage.agent(
        "root",
        call("worker", request="First."),
        call("look"),
        call("worker", request="Second."),
        "Both done.",
        tools=[look],
        sub_agents=[task],
    )
    await stage.open(root)
    await stage.say()
    await stage.say("b")


@case()
async def a_task_within_a_task(stage):
    inner = worker(stage, "Deep question?", finish(result="deep"), name="inner")
    outer = worker(
        stage,
        "First question?",
        call("inner", request="Dig."),
        finish(result="all"),
        name="outer",
        sub_agents=[inner],
    )
    root = stage.agent("root", call("outer", request="Work."), "Done.", sub_agents=[outer])
    await stage.open(root)
    await stage.say()
    await stage.say("one")
    await stage.say("two")


@case(differs=ORDER_OF_ANSWERS)
async def finishing_beside_a_delegation(stage):
    inner = worker(stage, "Deep question?", finish(result="deep"), name="inner")
    outer = worker(
        stage,
        [call("inner", request="Dig."), finish(result="too early")],
        finish(result="all"),
        name="outer",
        sub_agents=[inner],
    )
    root = stage.agent("root", call("outer", request="Work."), "Done.", sub_agents=[outer])
    await stage.open(root)
    await stage.say()
    await stage.say("deep")


@case()
async def a_single_turn_agent_beside_a_task(stage):
    asked = stage.agent("asked", "Sun.", "Rain.", mode="single_turn", description="Knows.", **ALONE)
    task = worker(stage, "Which?", finish(result="A"))
    root = stage.agent(
        "root",
        call("asked", request="Weather?"),
        call("worker", request="Work."),
        call("asked", request="And now?"),
        "All done.",
        sub_agents=[asked, task],
    )
    await stage.open(root)
    await stage.say()
    await stage.say("a")


@case(differs=SINGLE_TURN_BELOW_TASKS)
async def a_single_turn_agent_below_a_task(stage):
    asked = stage.agent("asked", "Sun.", mode="single_turn", description="Knows.", **ALONE)
    task = worker(
        stage, call("asked", request="Weather?"), finish(result="It is sunny."), sub_agents=[asked]
    )
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root)
    await stage.say()


@case(differs=TASK_AFTER_TRANSFER)
async def a_chat_agent_delegates_after_a_transfer(stage):
    task = worker(stage, "Which?", finish(result="A"))
    child = stage.agent("child", call("worker", request="Work."), "Done.", sub_agents=[task])
    root = stage.agent("root", transfer("child"), sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say("a")
    await stage.say("more")


@case(differs=TASK_OF_THE_ROOT)
async def a_task_agent_as_root(stage):
    root = worker(stage, "Which?", finish(result="A"), "Once more?", finish(result="B"))
    await stage.open(root)
    await stage.say()
    await stage.say("a")
    await stage.say("again")
    await stage.say("b")


@case(differs=TASK_OF_THE_ROOT)
async def a_task_agent_as_root_with_a_task_below(stage):
    inner = worker(stage, "Deep question?", finish(result="deep"), name="inner")
    root = worker(
        stage, call("inner", request="Dig."), finish(result="all"), name="outer", sub_agents=[inner]
    )
    await stage.open(root)
    await stage.say()
    await stage.say("deep")


@case(differs=CHAT_BELOW_TASKS)
async def a_chat_agent_below_a_task(stage):
    child = stage.agent("child", "Hello.", **ALONE, description="Talks.")
    task = worker(stage, transfer("child"), finish(result="A"), sub_agents=[child])
    root = stage.agent("root", call("worker", request="Work."), "Done.", sub_agents=[task])
    await stage.open(root)
    await stage.say()
    await stage.say("a")


@case(differs=LEAVING_TASKS)
async def a_task_hands_over_to_its_parent(stage):
    task = worker(
        stage,
        transfer("root"),
        finish(result="A"),
        disallow_transfer_to_parent=False,
        disallow_transfer_to_peers=False,
    )
    root = stage.agent(
        "root", call("worker", request="Work."), "Here I am.", "More.", sub_agents=[task]
    )
    await stage.open(root)
    await stage.say()
    await stage.say("a")


@case()
async def a_tool_object_beside_a_task(stage):
    task = worker(stage, "Which?", finish(result="A"))
    root = stage.agent(
        "root",
        [call("look"), call("worker", request="Work.")],
        "Both done.",
        tools=[stage.ns.FunctionTool(look)],
        sub_agents=[task],
    )
    await stage.open(root)
    await stage.say()
    await stage.say("a")


@case()
async def a_task_of_which_a_single_turn_agent_knows_nothing(stage):
    asked = stage.agent("asked", "Sun.", mode="single_turn", description="Knows.", **ALONE)
    root = stage.agent(
        "root", call("asked", request="Weather?"), "Sunny.", "As I said.", sub_agents=[asked]
    )
    await stage.open(root)
    await stage.say()
    await stage.say("sure?")


@case()
async def a_single_turn_agent_is_called_again_and_again(stage):
    asked = stage.agent(
        "asked", "One.", "Two.", "Three.", mode="single_turn", description="Knows.", **ALONE
    )
    root = stage.agent(
        "root",
        call("asked", request="Weather?"),
        call("asked", request="And now?"),
        "As ever.",
        call("asked", request="Still?"),
        "Still.",
        sub_agents=[asked],
    )
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case()
async def a_single_turn_agent_with_schemas(stage):
    asked = stage.agent(
        "asked",
        call("set_model_response", total=3, note="paid"),
        mode="single_turn",
        description="Knows.",
        tools=[look],
        input_schema=Order,
        output_schema=Bill,
        output_key="bill",
        **ALONE,
    )
    root = stage.agent("root", call("asked", dish="soup", count=2), "Three.", sub_agents=[asked])
    await stage.open(root)
    await stage.say()


@case(differs=SINGLE_TURN_ERRORS)
async def a_single_turn_agent_that_fails(stage):
    asked = stage.agent("asked", Raise(), mode="single_turn", description="Knows.", **ALONE)
    root = stage.agent("root", call("asked", request="Weather?"), "Sorry.", sub_agents=[asked])
    await stage.open(root)
    await stage.say()


@case()
async def a_streamed_single_turn_agent(stage):
    asked = stage.agent(
        "asked",
        [Say("Let me see.", chunks=2), call("look")],
        Say("It is fine.", chunks=2),
        mode="single_turn",
        description="Knows.",
        tools=[look],
        **ALONE,
    )
    root = stage.agent("root", call("asked", request="Weather?"), "Fine.", sub_agents=[asked])
    await stage.open(root)
    await stage.stream()
