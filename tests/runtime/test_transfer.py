"""Transfers of a conversation to another agent."""

import inspect
import sys
from contextlib import contextmanager
from typing import ClassVar

import pytest
from google.genai import types

from devui.runtime.agents import BaseAgent, LlmAgent, RunConfig
from devui.runtime.agents.invocation_context import LlmCallsLimitExceededError
from devui.runtime.events import Event, EventActions
from devui.runtime.models import Call, LlmResponse, Rule, Say, ScriptedLlm
from devui.runtime.plugins import BasePlugin
from devui.runtime.tools import LongRunningFunctionTool
from tests.kit.conversation import Conversation, response_part, resumable, said


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


async def test_an_agent_may_transfer_back_to_its_parent():
    conversation = Conversation(team())
    await conversation.say("my invoice")

    events = await conversation.say("thanks")

    assert speakers(events) == ["billing", "billing", "desk"]
    assert said(events[-1]) == "Hello."


@contextmanager
def small_stack():
    """Limit the call depth, as if there were many more transfers."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 250)
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


async def test_agents_that_transfer_in_a_circle_reach_the_limit_of_model_calls():
    ping = LlmAgent(name="ping", model=ScriptedLlm(rules=[Rule(then=transfer("pong"))]))
    model = ScriptedLlm(rules=[Rule(then=transfer("ping"))])
    conversation = Conversation(LlmAgent(name="pong", model=model, sub_agents=[ping]))

    message = r"120 model calls.*120 times in a row"
    with pytest.raises(LlmCallsLimitExceededError, match=message), small_stack():
        await conversation.say("go", RunConfig(max_llm_calls=120))

    assert len(conversation.heard) == 241
    assert conversation.heard[-1].error_code == "LlmCallsLimitExceededError"


async def test_the_model_is_told_which_agents_exist():
    desk = team()
    conversation = Conversation(desk)

    await conversation.say("hi")

    request = desk.model.requests[0]
    assert (
        "Name: billing\nDescription: Answers questions about" in request.config.system_instruction
    )
    [declaration] = request.config.tools[0].function_declarations
    agent_names = declaration.parameters_json_schema["properties"]["agent_name"]["enum"]
    assert agent_names == ["billing", "sales"]


@pytest.mark.parametrize(
    ("fields", "targets"),
    [
        ({}, ["desk", "sales"]),
        ({"disallow_transfer_to_parent": True}, ["sales"]),
        ({"disallow_transfer_to_peers": True}, ["desk"]),
        ({"disallow_transfer_to_parent": True, "disallow_transfer_to_peers": True}, []),
    ],
)
async def test_parents_and_peers_can_be_excluded(fields, targets):
    billing = team(**fields).sub_agents[0]

    assert [target.name for target in billing.may_hand_over_to] == targets


async def test_a_single_agent_is_offered_no_transfer():
    agent = LlmAgent(name="a", model=ScriptedLlm(rules=[Rule(then=Say("ok"))]))

    await Conversation(agent).say("hi")

    assert agent.model.requests[0].config.tools is None


async def test_a_transfer_to_an_unknown_agent_is_refused_with_the_valid_names():
    _, refusal, answer = await Conversation(team()).say("lead me astray")

    error = refusal.get_function_responses()[0].response["error"]
    assert "'nobody'" in error
    assert "billing, sales" in error
    assert refusal.actions.transfer_to_agent is None
    assert said(answer) == "Hello."


async def test_an_error_of_the_other_agent_is_reported_once():
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


async def test_events_have_the_paths_of_their_agents():
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


class Router(BaseAgent):
    """An agent whose code transfers with an event."""

    to: str

    async def _run_async_impl(self, ctx):
        actions = EventActions(transfer_to_agent=self.to)
        yield Event(author=self.name, invocation_id=ctx.invocation_id, actions=actions)
        yield Event(author=self.name, invocation_id=ctx.invocation_id, message="Done.")


class ModelRouter(LlmAgent):
    """The same for an `LlmAgent`, instead of its model's turn."""

    async def _run_async_impl(self, ctx):
        actions = EventActions(transfer_to_agent="helper")
        yield Event(author=self.name, invocation_id=ctx.invocation_id, actions=actions)
        raise AssertionError("nothing comes behind a transfer")


def helper(name="helper"):
    return LlmAgent(name=name, model=ScriptedLlm(rules=[Rule(then=Say("Here I am."))]))


def desk(*sub_agents, to="router", **fields):
    rules = [Rule(then=transfer(to))]
    return LlmAgent(
        name="desk", model=ScriptedLlm(rules=rules), sub_agents=list(sub_agents), **fields
    )


@pytest.mark.parametrize("place", ["child", "peer"])
async def test_an_agents_code_transfers_when_it_is_done(place):
    below = [helper()] if place == "child" else []
    beside = [] if below else [helper()]
    router = Router(name="router", to="helper", sub_agents=below)

    events = await Conversation(desk(router, *beside)).say("go")

    assert [(e.author, said(e)) for e in events[2:]] == [
        ("router", ""),
        ("router", "Done."),
        ("helper", "Here I am."),
    ]
    above = "desk@1/router@1" if place == "child" else "desk@1"
    assert events[-1].node_info.path == f"{above}/helper@1"


async def test_an_agents_code_may_transfer_to_its_parent():
    def back(callback_context, llm_request):
        if len(llm_request.contents) > 1:
            return LlmResponse(content=types.ModelContent("Back."))
        return None

    root = desk(Router(name="router", to="desk"), before_model_callback=back)
    events = await Conversation(root).say("go")

    assert speakers(events) == ["desk", "desk", "router", "router", "desk"]
    assert said(events[-1]) == "Back."


async def test_code_in_place_of_a_models_turn_ends_when_it_transfers():
    def note(callback_context):
        raise AssertionError("the agent has left the conversation")

    conversation = Conversation(
        ModelRouter(name="root", sub_agents=[helper()], after_agent_callback=note)
    )

    assert speakers(await conversation.say("go")) == ["root", "helper"]
    assert speakers(await conversation.say("more")) == ["helper"]


@pytest.mark.parametrize("kind", ["before_agent_callback", "after_agent_callback"])
async def test_an_agent_callback_may_transfer(kind):
    def move(callback_context):
        callback_context.actions.transfer_to_agent = "helper"
        return types.ModelContent("One moment.")

    root = LlmAgent(
        name="root",
        model=ScriptedLlm(rules=[Rule(then=Say("Hello."))]),
        sub_agents=[helper()],
        **{kind: move},
    )

    events = await Conversation(root).say("go")

    assert [said(event) for event in events][-2:] == ["One moment.", "Here I am."]


async def test_code_may_transfer_only_to_agents_around_it():
    conversation = Conversation(desk(Router(name="router", to="nobody"), helper()))

    with pytest.raises(ValueError, match=r"'router' cannot transfer to 'nobody'.* desk, helper"):
        await conversation.say("go")


async def test_a_resumed_run_continues_with_the_agent_that_code_transferred_to():
    def order() -> None:
        """Order."""

    rules = [Rule(after="order", then=Say("Thanks.")), Rule(then=Call("order"))]
    waiting = LlmAgent(
        name="helper", model=ScriptedLlm(rules=rules), tools=[LongRunningFunctionTool(order)]
    )
    root = desk(Router(name="router", to="helper"), waiting)
    conversation = resumable(root, yes=True)
    call = (await conversation.say("go"))[-1].get_function_calls()[0]
    answer = types.Content(role="user", parts=[response_part("order", call.id, result="tea")])

    events = await conversation.say(answer)

    assert [(e.author, said(e)) for e in events if e.content] == [("helper", "Thanks.")]
    assert len(root.model.requests) == 1


@pytest.mark.parametrize("yes", [False, True])
async def test_code_that_gets_the_turn_again_runs_again(yes):
    class Alternating(BaseAgent):
        async def _run_async_impl(self, ctx):
            ran = sum(event.author == self.name for event in ctx.session.events)
            target = "desk" if ran == 0 else "helper"
            actions = EventActions(transfer_to_agent=target)
            yield Event(author=self.name, message=f"To {target}.", actions=actions)

    def order() -> None:
        """Order."""

    def ask(callback_context, llm_request):
        texts = [part.text for content in llm_request.contents for part in content.parts]
        if texts[-1] and "To desk." in texts[-1]:
            call = types.FunctionCall(name="order", args={})
            return LlmResponse(content=types.ModelContent(types.Part(function_call=call)))
        return None

    router = Alternating(name="router")
    tools = [LongRunningFunctionTool(order)]
    root = desk(router, helper(), before_model_callback=ask, tools=tools)
    conversation = resumable(root, yes=yes)
    call = (await conversation.say("go"))[-1].get_function_calls()[0]
    answer = types.Content(role="user", parts=[response_part("order", call.id, result="tea")])

    events = await conversation.say(answer)

    lines = [(event.author, said(event)) for event in events if said(event)]
    assert lines == [("router", "To helper."), ("helper", "Here I am.")]


async def test_a_resumed_run_continues_with_the_agent_a_callback_transferred_to():
    def order() -> None:
        """Order."""

    def move(callback_context):
        callback_context.actions.transfer_to_agent = "helper"
        return types.ModelContent("One moment.")

    rules = [Rule(after="order", then=Say("Thanks.")), Rule(then=Call("order"))]
    waiting = LlmAgent(
        name="helper", model=ScriptedLlm(rules=rules), tools=[LongRunningFunctionTool(order)]
    )
    clerk = LlmAgent(
        name="clerk",
        model=ScriptedLlm(rules=[Rule(then=Say("I am the clerk."))]),
        after_agent_callback=move,
    )
    root = desk(clerk, waiting, to="clerk")
    conversation = resumable(root, yes=True)
    call = (await conversation.say("go"))[-1].get_function_calls()[0]
    answer = types.Content(role="user", parts=[response_part("order", call.id, result="tea")])

    events = await conversation.say(answer)

    assert [(e.author, said(e)) for e in events if e.content] == [("helper", "Thanks.")]
    assert len(clerk.model.requests) == 1


async def test_an_error_after_a_transfer_belongs_to_the_new_agent():
    class Broken(BaseAgent):
        async def _run_async_impl(self, ctx):
            raise OSError("no line")
            yield

    class Watching(BasePlugin):
        failed: ClassVar = []

        async def on_agent_error_callback(self, *, agent, callback_context, error):
            self.failed.append(agent.name)

    conversation = Conversation(desk(Broken(name="broken"), to="broken"))
    conversation.runner.plugin_manager.register_plugin(Watching("watching"))

    with pytest.raises(OSError, match="no line"):
        await conversation.say("go")

    last = (await conversation.session()).events[-1]
    assert (last.author, last.error_message) == ("broken", "no line")
    assert Watching.failed == ["broken"]
