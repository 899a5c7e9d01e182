"""Agents that hand over to each other, and who speaks next."""

from tests.differential.case import case
from tests.differential.differing import FAILED_TRANSFER, WHO_FAILED
from tests.differential.script import Boom, Raise, Say, call, transfer


def look() -> str:
    """Looks."""
    return "ok"


@case()
async def a_child_takes_over_and_keeps_the_turn(stage):
    child = stage.agent("child", "Hello.", "Still me.", description="Talks.")
    root = stage.agent("root", transfer("child"), sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case()
async def a_streamed_transfer(stage):
    child = stage.agent("child", Say("Hello there.", chunks=2))
    root = stage.agent(
        "root", [Say("One moment.", chunks=2), transfer("child")], sub_agents=[child]
    )
    await stage.open(root)
    await stage.stream()


@case()
async def a_child_hands_back_to_its_parent(stage):
    child = stage.agent("child", "Hello.", transfer("root"))
    root = stage.agent("root", transfer("child"), "Back again.", "And on.", sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say("back")
    await stage.say("more")


@case()
async def there_and_back_in_one_turn(stage):
    child = stage.agent("child", transfer("root"))
    root = stage.agent("root", transfer("child"), "Here I am.", sub_agents=[child])
    await stage.open(root)
    await stage.say()


@case()
async def a_child_hands_over_to_its_peer(stage):
    one = stage.agent("one", transfer("two"))
    two = stage.agent("two", "Two speaks.", "Two again.")
    root = stage.agent("root", transfer("one"), sub_agents=[one, two])
    await stage.open(root)
    await stage.say()
    await stage.say("more")


@case()
async def a_grandchild_takes_over(stage):
    leaf = stage.agent("leaf", "Leaf.", transfer("middle"))
    middle = stage.agent("middle", transfer("leaf"), "Middle.", sub_agents=[leaf])
    root = stage.agent("root", transfer("middle"), sub_agents=[middle])
    await stage.open(root)
    await stage.say()
    await stage.say("up")


@case(differs=FAILED_TRANSFER)
async def a_transfer_to_nobody(stage):
    child = stage.agent("child", "Hello.")
    root = stage.agent("root", transfer("stranger"), "Sorry.", sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case(differs=FAILED_TRANSFER)
async def a_transfer_to_oneself(stage):
    child = stage.agent("child", "Hello.")
    root = stage.agent("root", transfer("root"), "Sorry.", sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case(differs=FAILED_TRANSFER)
async def a_transfer_past_a_level(stage):
    leaf = stage.agent("leaf", "Leaf.")
    middle = stage.agent("middle", "Middle.", sub_agents=[leaf])
    root = stage.agent("root", transfer("leaf"), "Sorry.", sub_agents=[middle])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case()
async def a_child_that_may_not_hand_back(stage):
    child = stage.agent(
        "child",
        "Hello.",
        transfer("root"),
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
    )
    root = stage.agent("root", transfer("child"), "Root again.", sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say("back")


@case(differs=FAILED_TRANSFER)
async def a_child_without_peers(stage):
    one = stage.agent("one", transfer("two"), disallow_transfer_to_peers=True)
    two = stage.agent("two", "Two speaks.")
    root = stage.agent("root", transfer("one"), sub_agents=[one, two])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case()
async def a_transfer_beside_another_call(stage):
    child = stage.agent("child", "Hello.")
    root = stage.agent("root", [call("look"), transfer("child")], tools=[look], sub_agents=[child])
    await stage.open(root)
    await stage.say()


@case()
async def a_tool_of_ones_own_hands_over(stage):
    def hand_over(tool_context) -> str:
        tool_context.actions.transfer_to_agent = "child"
        return "over"

    child = stage.agent("child", "Hello.")
    root = stage.agent("root", call("hand_over"), tools=[hand_over], sub_agents=[child])
    await stage.open(root)
    await stage.say()


@case(differs=WHO_FAILED)
async def a_child_fails_after_a_transfer(stage):
    child = stage.agent("child", Raise(), "Better.")
    root = stage.agent("root", transfer("child"), "Root.", sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case()
async def a_tool_of_a_child_fails_after_a_transfer(stage):
    def fall() -> None:
        raise Boom("boom")

    child = stage.agent("child", call("fall"), "Better.", tools=[fall])
    root = stage.agent("root", transfer("child"), "Root.", sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case()
async def a_child_sees_the_parents_words_as_quotations(stage):
    child = stage.agent("child", "Hello.")
    root = stage.agent(
        "root",
        [Say("Let me see."), call("look")],
        [Say("I hand over."), transfer("child")],
        tools=[look],
        sub_agents=[child],
    )
    await stage.open(root)
    await stage.say()


@case()
async def a_transfer_to_a_sequence(stage):
    seq = stage.ns.SequentialAgent(
        name="seq", sub_agents=[stage.agent("a", "A.", "A2."), stage.agent("b", "B.", "B2.")]
    )
    root = stage.agent("root", transfer("seq"), "Root again.", sub_agents=[seq])
    await stage.open(root)
    await stage.say()
    await stage.say("more")


@case()
async def a_transfer_within_a_sequence(stage):
    leaf = stage.agent("leaf", "Leaf.")
    first = stage.agent("first", transfer("leaf"), sub_agents=[leaf])
    after = stage.agent("after", "After.")
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=[first, after]))
    await stage.say()
    await stage.say("more")


@case()
async def the_output_key_of_agents_that_hand_over(stage):
    child = stage.agent("child", "Hello.", output_key="child_said")
    root = stage.agent(
        "root", [Say("Over."), transfer("child")], sub_agents=[child], output_key="root_said"
    )
    await stage.open(root)
    await stage.say()


@case()
async def a_child_inherits_the_model(stage):
    child = stage.ns.LlmAgent(name="child", instruction="Case: child")
    root = stage.agent(
        "root", transfer("child"), "I am the child.", sub_agents=[child], instruction="Case: root"
    )
    await stage.open(root)
    await stage.say()


@case()
async def callbacks_of_the_parent_after_a_transfer(stage):
    def after(callback_context):
        stage.note("after", callback_context.agent_name)
        callback_context.state[callback_context.agent_name] = "ended"

    child = stage.agent("child", "Hello.", after_agent_callback=after)
    root = stage.agent("root", transfer("child"), sub_agents=[child], after_agent_callback=after)
    await stage.open(root)
    await stage.say()


@case()
async def a_global_instruction_holds_for_the_tree(stage):
    child = stage.agent("child", "Hello.", instruction="Case: child")
    root = stage.agent(
        "root",
        transfer("child"),
        sub_agents=[child],
        instruction="Case: root",
        global_instruction="Case: all of {who}",
    )
    await stage.open(root, state={"who": "us"})
    await stage.say()
