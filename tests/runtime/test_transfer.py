"""Handing a conversation over to another agent."""

import inspect
import sys
from contextlib import contextmanager

import pytest

from devui.runtime.agents import BaseAgent, LlmAgent, RunConfig
from devui.runtime.agents.invocation_context import LlmCallsLimitExceededError
from devui.runtime.events import Event
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from tests.kit.conversation import Conversation, said


def transfer(name):
    return Call("transfer_to_agent", agent_name=name)


def team(**billing_fields):
    billing = LlmAgent(
        name="billing",
        description="Answers questions about invoices.",
        model=ScriptedLlm(
            rules=[Rule(user="thanks", then=transfer("desk")), Rule(then=Say("It is paid."))]
        ),
        **billing_fields,
    )
    sales = LlmAgent(name="sales", model=ScriptedLlm(rules=[Rule(then=Say("Buy!"))]))
    return LlmAgent(
        name="desk",
        model=ScriptedLlm(
            rules=[
                Rule(user="invoice", then=transfer("billing")),
                Rule(user="astray", then=transfer("nobody")),
                Rule(then=Say("Hello.")),
            ]
        ),
        sub_agents=[billing, sales],
    )


def speakers(events):
    return [event.author for event in events]


async def test_the_other_agent_answers_in_the_same_invocation():
    call, response, answer = await Conversation(team()).say("my invoice")

    assert speakers([call, response, answer]) == ["desk", "desk", "billing"]
    assert response.actions.transfer_to_agent == "billing"
    assert response.get_function_responses()[0].response == {"result": None}
    assert said(answer) == "It is paid."
    assert len({event.invocation_id for event in (call, response, answer)}) == 1


async def test_the_next_turn_stays_with_the_agent_that_spoke_last():
    conversation = Conversation(team())
    await conversation.say("my invoice")

    assert speakers(await conversation.say("and the other?")) == ["billing"]


async def test_an_agent_may_hand_back_to_its_parent():
    conversation = Conversation(team())
    await conversation.say("my invoice")

    events = await conversation.say("thanks")

    assert speakers(events) == ["billing", "billing", "desk"]
    assert said(events[-1]) == "Hello."


@contextmanager
def small_stack():
    """Room for few calls within calls, as if there were many more hand-overs."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 250)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


async def test_agents_that_hand_over_in_a_circle_come_to_the_limit_of_model_calls():
    ping = LlmAgent(name="ping", model=ScriptedLlm(rules=[Rule(then=transfer("pong"))]))
    model = ScriptedLlm(rules=[Rule(then=transfer("ping"))])
    conversation = Conversation(LlmAgent(name="pong", model=model, sub_agents=[ping]))

    told = r"120 model calls.*120 times in a row"
    with pytest.raises(LlmCallsLimitExceededError, match=told), small_stack():
        await conversation.say("go", RunConfig(max_llm_calls=120))

    assert len(conversation.heard) == 241
    assert conversation.heard[-1].error_code == "LlmCallsLimitExceededError"


async def test_the_model_learns_which_agents_there_are():
    desk = team()
    conversation = Conversation(desk)

    await conversation.say("hi")

    request = desk.model.requests[0]
    assert (
        "Name: billing\nDescription: Answers questions about" in request.config.system_instruction
    )
    [declaration] = request.config.tools[0].function_declarations
    allowed = declaration.parameters_json_schema["properties"]["agent_name"]["enum"]
    assert allowed == ["billing", "sales"]


@pytest.mark.parametrize(
    ("fields", "targets"),
    [
        ({}, ["desk", "sales"]),
        ({"disallow_transfer_to_parent": True}, ["sales"]),
        ({"disallow_transfer_to_peers": True}, ["desk"]),
        ({"disallow_transfer_to_parent": True, "disallow_transfer_to_peers": True}, []),
    ],
)
async def test_parents_and_peers_can_be_ruled_out(fields, targets):
    billing = team(**fields).sub_agents[0]

    assert [target.name for target in billing.transfer_targets] == targets


async def test_an_agent_alone_is_offered_no_transfer():
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=[Rule(then=Say("ok"))]))

    await Conversation(agent).say("hi")

    assert agent.model.requests[0].config.tools is None


async def test_a_transfer_to_nowhere_is_an_error_that_names_the_possible():
    conversation = Conversation(team())

    with pytest.raises(ValueError, match=r"cannot transfer to 'nobody'.*billing, sales"):
        await conversation.say("lead me astray")

    assert conversation.heard[-1].error_code == "ValueError"


async def test_an_error_of_the_other_agent_is_told_once():
    desk = team()
    desk.sub_agents[0].model = ScriptedLlm(rules=[])
    conversation = Conversation(desk)

    with pytest.raises(ValueError, match="None of the 0 rules"):
        await conversation.say("my invoice")

    errors = [event for event in conversation.heard if event.error_code]
    assert speakers(errors) == ["billing"]


async def test_callbacks_run_for_the_agent_that_takes_over():
    calls = []

    def note(name):
        def callback(callback_context):
            calls.append((name, callback_context.agent_name))

        return callback

    desk = team(before_agent_callback=note("before"), after_agent_callback=note("after"))
    desk.before_agent_callback = note("before")
    desk.after_agent_callback = note("after")

    await Conversation(desk).say("my invoice")

    assert calls == [("before", "desk"), ("before", "billing"), ("after", "billing")]


async def test_an_agent_of_any_kind_can_take_over():
    class Clerk(BaseAgent):
        async def _run_async_impl(self, ctx):
            yield Event(author=self.name, message="Stamped.")

    desk = LlmAgent(
        name="desk",
        model=ScriptedLlm(rules=[Rule(then=transfer("clerk"))]),
        sub_agents=[Clerk(name="clerk")],
    )

    events = await Conversation(desk).say("stamp it")

    assert said(events[-1]) == "Stamped."


async def test_events_say_where_their_agents_are_at_work():
    child = LlmAgent(
        name="child",
        model=ScriptedLlm(
            rules=[
                Rule(user="back", then=transfer("root")),
                Rule(then=Say("Hello.")),
            ]
        ),
    )
    rules = [
        Rule(user="back", then=Say("Here again.")),
        Rule(then=transfer("child")),
    ]
    root = LlmAgent(name="root", model=ScriptedLlm(rules=rules), sub_agents=[child])
    conversation = Conversation(root)

    first = [event.node_info.path for event in await conversation.say("hi")]
    second = [event.node_info.path for event in await conversation.say("back")]

    assert first == ["root@1", "root@1", "root@1/child@1"]
    assert second == ["root@1/child@1", "root@1/child@1", "root@2"]
