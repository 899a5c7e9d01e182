"""Agents that transfer to each other, and which of them speaks next."""

from functools import partial

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.differing import (
    FAILED_TRANSFER,
    MISNAMED_TARGET,
    NAMELESS_TARGET,
    WHO_FAILED,
)
from tests.differential.differing_resume import ENDS_OF_TEAMS
from tests.differential.differing_sharing import HANDS_OVER_WITH_OPEN_CALL
from tests.differential.script import Boom, Call, Raise, Say, call, transfer


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


@case(differs=NAMELESS_TARGET)
async def a_transfer_to_what_is_no_name(stage):
    child = stage.agent("child", "Hello.")
    answers = Call("transfer_to_agent", {"agent_name": ["child"]}), transfer("child")
    await stage.open(stage.agent("root", *answers, sub_agents=[child]))
    await stage.say()


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


@case(differs=MISNAMED_TARGET)
async def a_transfer_to_nobody(stage):
    child = stage.agent("child", "Hello.")
    root = stage.agent("root", transfer("stranger"), "Sorry.", sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


def _asks_first(tool, args, tool_context):
    decision = tool_context.tool_confirmation
    if tool.name != "transfer_to_agent" or decision:
        return None if not decision or decision.confirmed else {"status": "refused"}
    tool_context.request_confirmation(hint="Hand over?")
    return {"status": "waiting"}


async def _decided(stage, confirmed, resumable):
    child = stage.agent("child", "Hello.", "Still me.")
    answers = [transfer("child"), "Mine."] if resumable else [transfer("child"), "Wait.", "Mine."]
    root = stage.agent("root", *answers, before_tool_callback=_asks_first, sub_agents=[child])
    await stage.open(root, resumable=resumable)
    await stage.say()
    await stage.say(stage.answer(stage.call("adk_request_confirmation"), confirmed=confirmed))
    await stage.say("more")


for _confirmed, _word in {True: "agrees to", False: "refuses"}.items():
    for _resumable, _where in {False: "", True: " of a resumable app"}.items():
        _play = partial(_decided, confirmed=_confirmed, resumable=_resumable)
        _differs = ENDS_OF_TEAMS if _confirmed and _resumable else None
        add(Case(f"the user {_word} a transfer{_where}", _play, _differs))


@case(differs=FAILED_TRANSFER)
async def a_tool_hands_over_to_nobody(stage):
    def leave(tool_context) -> str:
        tool_context.actions.transfer_to_agent = "stranger"
        return "Left."

    child = stage.agent("child", "Hello.")
    root = stage.agent("root", call("leave"), "Sorry.", tools=[leave], sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case(differs=MISNAMED_TARGET)
async def a_transfer_to_oneself(stage):
    child = stage.agent("child", "Hello.")
    root = stage.agent("root", transfer("root"), "Sorry.", sub_agents=[child])
    await stage.open(root)
    await stage.say()
    await stage.say("again")


@case(differs=MISNAMED_TARGET)
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


@case(differs=MISNAMED_TARGET)
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


def _router(stage, name, *targets):
    async def body(ctx):
        for target in targets:
            actions = stage.ns.actions(transfer_to_agent=target)
            yield stage.ns.event(name, "Wait.", actions=actions, invocation_id=ctx.invocation_id)
        yield stage.ns.event(name, "Done.", invocation_id=ctx.invocation_id)

    return stage.custom(name, body)


def _led(stage, *others, to="router"):
    return stage.agent("root", transfer(to), "Back.", "More.", sub_agents=list(others))


for _name, _targets in {
    "to its peer": ["two"],
    "back to the agent above": ["root"],
    "twice, and the last counts": ["one", "two"],
    "to a peer whose code hands over again": ["second"],
}.items():

    async def _by_code(stage, targets):
        second = _router(stage, "second", "two")
        one, two = stage.agent("one", "One."), stage.agent("two", "Two.", "Two again.")
        await stage.open(_led(stage, _router(stage, "router", *targets), second, one, two))
        await stage.say()
        await stage.say("again")

    add(Case(f"code of an agent hands over {_name}", partial(_by_code, targets=_targets)))


@case()
async def code_of_an_agent_hands_over_to_a_child(stage):
    router = _router(stage, "router", "child")
    router.sub_agents.append(child := stage.agent("child", "Hello.", "Still me."))
    child.parent_agent = router
    await stage.open(_led(stage, router))
    await stage.say()
    await stage.say("again")


@case()
async def code_of_a_root_agent_cannot_hand_over(stage):
    await stage.open(_router(stage, "router", "two"))
    await stage.say()


@case()
async def code_within_a_workflow_cannot_hand_over(stage):
    workflow = stage.ns.SequentialAgent(
        name="seq", sub_agents=[_router(stage, "router", "two"), stage.agent("next", "Next.")]
    )
    await stage.open(_led(stage, workflow, stage.agent("two", "Two."), to="seq"))
    await stage.say()
    await stage.say("again")


@case()
async def callbacks_of_an_agent_hand_over(stage):
    def move(callback_context):
        callback_context.actions.transfer_to_agent = "two"
        return types.ModelContent("One moment.")

    router = stage.custom("router", _says_ok(stage))
    router.after_agent_callback = move
    await stage.open(_led(stage, router, stage.agent("two", "Two.", "Two again.")))
    await stage.say()
    await stage.say("again")


def _says_ok(stage):
    async def body(ctx):
        yield stage.ns.event("router", "Ok.", invocation_id=ctx.invocation_id)

    return body


@case()
async def code_in_place_of_a_model_hands_over(stage):
    class Own(stage.ns.LlmAgent):
        async def _run_async_impl(self, ctx):
            actions = stage.ns.actions(transfer_to_agent="two")
            yield stage.ns.event("root", "To two.", actions=actions)
            yield stage.ns.event("root", "Nobody hears that.")

    def note(callback_context):
        stage.note("after", callback_context.agent_name)

    two = stage.agent("two", "Two.", "Two again.")
    await stage.open(Own(name="root", sub_agents=[two], after_agent_callback=note))
    await stage.say()
    await stage.say("again")


@case()
async def what_goes_wrong_after_a_transfer_is_told_of_once(stage):
    async def body(ctx):
        yield stage.ns.event("router", "Trying.", invocation_id=ctx.invocation_id)
        raise ValueError("No line.")

    class Watching(stage.ns.BasePlugin):
        async def on_agent_error_callback(self, *, agent, callback_context, error):
            stage.note("failed", agent.name)

        async def on_run_error_callback(self, *, invocation_context, error):
            stage.note("run failed", str(error))

    await stage.open(_led(stage, stage.custom("router", body)), plugins=[Watching("watching")])
    await stage.say()
    await stage.say("again")


async def _with_an_open_call(stage, together):
    def wait() -> dict[str, str]:
        """Waits."""
        return {"status": "pending"}

    tool = stage.ns.LongRunningFunctionTool(wait)
    both = call("wait"), transfer("child")
    child = stage.agent("child", "Hello.", "Still me.", description="Talks.")
    answers = [list(both)] if together else both
    await stage.open(stage.agent("root", *answers, tools=[tool], sub_agents=[child]))
    await stage.say()
    await stage.say("more")


for _together in (False, True):
    _how = "the same answer" if _together else "an earlier answer"
    add(
        Case(
            f"a transfer while a call of {_how} is open",
            partial(_with_an_open_call, together=_together),
            differs=HANDS_OVER_WITH_OPEN_CALL,
        )
    )


@case()
async def a_call_is_told_to_others_with_its_arguments_by_name(stage):
    def pair(left: int = 0, right: int = 0, above: dict | None = None) -> str:
        """Pairs."""
        return "ok"

    pair_call = Call("pair", {"right": 2, "left": 1, "above": {"z": 1, "a": 2}})
    first = stage.agent("first", pair_call, "Said.", tools=[pair])
    second = stage.agent("second", "Heard.")
    await stage.open(stage.ns.SequentialAgent(name="root", sub_agents=[first, second]))
    await stage.say()


@case()
async def an_agent_asks_when_it_has_been_handed_back_to(stage):
    child = stage.agent("child", transfer("root"), "Child.")
    answers = transfer("child"), call("look"), transfer("child"), "Root."
    tool = stage.ns.FunctionTool(look, require_confirmation=True)
    await stage.open(stage.agent("root", *answers, tools=[tool], sub_agents=[child]))
    await stage.say()
    await stage.say(stage.answer(stage.call("adk_request_confirmation"), confirmed=True))
