"""Agents of mode `task`: they get tasks, talk with the user, and finish."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing

import pytest
from google.genai import types
from pydantic import BaseModel, ValidationError

from devui.runtime.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.agents.invocation_context import new_invocation_context_id
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.events import EventActions
from devui.runtime.models import Call, Fail, Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner
from devui.runtime.tools import AgentTool, LongRunningFunctionTool
from tests.kit.conversation import Conversation, outline, response_part, said


class Trip(BaseModel):
    city: str
    days: int = 3


def look(city: str) -> str:
    """Look at a city."""
    return f"{city} is fine"


FINISH = Call("finish_task", result="{user} it is")


def planner(*rules, name="planner", **fields):
    """Return a task agent that asks for a city, looks at it and finishes."""
    rules = rules or [
        Rule(after="look", then=FINISH),
        Rule(user="^(Rome|Oslo)", then=Call("look", city="{user}")),
        Rule(then=Say("Which city?")),
    ]
    fields = {"tools": [look], "mode": "task", **fields}
    return LlmAgent(name=name, description="Plans.", model=ScriptedLlm(rules=rules), **fields)


def chief(*sub_agents, rules=(), asks="planner", name="chief"):
    """Return an agent that delegates one task."""
    rules = [
        *rules,
        Rule(after=asks, then=Say("Planned: {result}")),
        Rule(user="thanks", then=Say("Welcome.")),
        Rule(then=Call(asks, request="Plan a trip.")),
    ]
    return LlmAgent(name=name, model=ScriptedLlm(rules=rules), sub_agents=list(sub_agents))


def resumable(root, *, yes=True):
    conversation = Conversation(root)
    settings = ResumabilityConfig(is_resumable=yes)
    app = App(name="app", root_agent=root, resumability_config=settings)
    conversation.runner = InMemoryRunner(app=app)
    return conversation


def story(events):
    """Return who said or did what, without checkpoints."""
    return [(e.author, *outline([e.content])[0][1]) for e in events if e.content]


async def test_a_task_agent_talks_with_the_user_until_it_finishes():
    conversation = Conversation(chief(planner()))

    first = await conversation.say("Plan!")
    second = await conversation.say("Rome")
    third = await conversation.say("thanks")

    assert story(first) == [("chief", "planner()"), ("planner", "Which city?")]
    assert story(second) == [
        ("planner", "look()"),
        ("planner", "look={'result': 'Rome is fine'}"),
        ("planner", "finish_task()"),
        ("planner", "finish_task={'result': 'Task completed.'}"),
        ("user", "planner={'result': 'Rome it is'}"),
        ("chief", "Planned: Rome it is"),
    ]
    assert story(third) == [("chief", "Welcome.")]
    assert {event.invocation_id for event in first + second} == {first[0].invocation_id}
    assert third[0].invocation_id != first[0].invocation_id


async def test_a_task_agent_sees_only_its_task_and_its_own_conversation():
    agent = planner()
    root = chief(agent)
    conversation = Conversation(root)

    await conversation.say("Plan!")
    await conversation.say("Rome")

    assert outline(agent.model.requests[1].contents) == [
        ("user", ['{"request": "Plan a trip."}']),
        ("model", ["Which city?"]),
        ("user", ["Rome"]),
    ]
    assert outline(root.model.requests[1].contents) == [
        ("user", ["Plan!"]),
        ("model", ["planner()"]),
        ("user", ["planner={'result': 'Rome it is'}"]),
    ]


async def test_the_finishing_event_has_the_output_in_the_form_of_the_schema():
    agent = planner(
        Rule(then=Call("finish_task", city="Rome")), output_schema=Trip, output_key="trip"
    )
    conversation = Conversation(chief(agent))

    events = await conversation.say("Plan!")

    assert events[2].output == {"city": "Rome", "days": 3}
    assert events[2].node_info.output_for == [events[2].node_info.path]
    assert events[3].get_function_responses()[0].response == {"city": "Rome", "days": 3}
    assert (await conversation.session()).state["trip"] == {"city": "Rome", "days": 3}


async def test_an_output_that_does_not_fit_leaves_the_task_open():
    agent = planner(
        Rule(after="finish_task", then=Say("For how long?")),
        Rule(user="two", then=Call("finish_task", city="Rome", days=2)),
        Rule(then=Call("finish_task", city="Rome", days="many")),
        output_schema=Trip,
    )
    conversation = Conversation(chief(agent))

    events = await conversation.say("Plan!")
    error = events[2].get_function_responses()[0].response["error"]

    assert "days" in error
    assert said(events[-1]) == "For how long?"
    assert said((await conversation.say("two"))[-1]) == 'Planned: {"city": "Rome", "days": 2}'


async def test_arguments_that_do_not_fit_are_reported_to_the_delegating_model():
    agent = planner(input_schema=Trip)

    events = await Conversation(chief(agent)).say("Plan!")

    assert "city" in events[1].get_function_responses()[0].response["error"]
    assert agent.model.requests == []


async def test_finishing_waits_for_tasks_given_in_the_same_answer():
    inner = planner(name="inner")
    outer = planner(
        Rule(after="inner", then=FINISH),
        Rule(then=[Call("inner", request="Dig."), Call("finish_task", result="early")]),
        name="outer",
        sub_agents=[inner],
    )
    conversation = Conversation(chief(outer, asks="outer"))

    first = await conversation.say("Plan!")
    second = await conversation.say("Rome")

    assert "still open" in first[2].get_function_responses()[0].response["error"]
    assert said(first[-1]) == "Which city?"
    assert story(second)[-1][0] == "chief"


@pytest.mark.parametrize("yes", [False, True])
async def test_nested_tasks_end_one_after_the_other(yes):
    inner = planner(name="inner")
    outer = planner(
        Rule(after="inner", then=FINISH),
        Rule(user="begin", then=Call("inner", request="Dig.")),
        Rule(then=Say("Shall I?")),
        name="outer",
        sub_agents=[inner],
    )
    conversation = resumable(chief(outer, asks="outer"), yes=yes)

    begin = [story(await conversation.say(text))[-1] for text in ("Plan!", "begin")]
    end = story(await conversation.say("Rome"))

    assert begin == [("outer", "Shall I?"), ("inner", "Which city?")]
    assert [author for author, _ in end if author != "inner"] == [
        "user",
        "outer",
        "outer",
        "user",
        "chief",
    ]


@pytest.mark.parametrize("yes", [False, True])
@pytest.mark.parametrize("make", [SequentialAgent, LoopAgent])
async def test_a_workflow_waits_for_an_agents_task_and_continues_after_it(yes, make):
    after = LlmAgent(name="after", model=ScriptedLlm(rules=[Rule(then=Say("After."))]))
    fields = {"max_iterations": 1} if make is LoopAgent else {}
    conversation = resumable(
        make(name="flow", sub_agents=[chief(planner()), after], **fields), yes=yes
    )

    first = await conversation.say("Plan!")
    second = await conversation.say("Rome")

    assert story(first)[-1] == ("planner", "Which city?")
    assert story(second)[-2:] == [("chief", "Planned: Rome it is"), ("after", "After.")]


@pytest.mark.parametrize("yes", [False, True])
async def test_parallel_agents_have_their_own_tasks(yes):
    one = chief(planner(name="one"), asks="one", name="first")
    two = chief(planner(name="two"), asks="two", name="second")
    after = LlmAgent(name="after", model=ScriptedLlm(rules=[Rule(then=Say("After."))]))
    both = ParallelAgent(name="both", sub_agents=[one, two])
    conversation = resumable(SequentialAgent(name="flow", sub_agents=[both, after]), yes=yes)

    await conversation.say("Plan!")
    middle = story(await conversation.say("Rome"))
    end = story(await conversation.say("Oslo"))

    plans = [line for line in middle + end if line[1].startswith("Planned")]
    assert {author for author, _ in plans} == {"first", "second"}
    assert [text for _, text in plans] == ["Planned: Rome it is", "Planned: Oslo it is"]
    assert "after" not in [author for author, *_ in middle]
    assert end[-1] == ("after", "After.")


async def leave(conversation, message, count, **how):
    """Run until `count` events have arrived, and leave."""
    await conversation._open()
    events = []
    run = conversation.runner.run_async(
        user_id="user",
        session_id="s",
        new_message=types.UserContent(message) if message else None,
        **how,
    )
    async with aclosing(run) as stream:
        async for event in stream:
            events.append(event)
            if len(events) == count:
                break
    return events


@pytest.mark.parametrize("run", [0, 1])
@pytest.mark.parametrize("count", range(1, 10))
async def test_a_run_interrupted_anywhere_has_the_same_result(run, count):
    conversation = resumable(chief(planner()))
    if run:
        await conversation.say("Plan!")
    first_events = await leave(conversation, ["Plan!", "Rome"][run], count)

    await leave(conversation, None, 0, invocation_id=first_events[0].invocation_id)
    if not run:
        await conversation.say("Rome")
    assert await leave(conversation, None, 0, invocation_id=first_events[0].invocation_id) == []

    events = (await conversation.session()).events
    assert [line for line in story(events) if line[0] != "user"] == [
        ("chief", "planner()"),
        ("planner", "Which city?"),
        ("planner", "look()"),
        ("planner", "look={'result': 'Rome is fine'}"),
        ("planner", "finish_task()"),
        ("planner", "finish_task={'result': 'Task completed.'}"),
        ("chief", "Planned: Rome it is"),
    ]
    ends = [event.author for event in events if event.actions.end_of_agent]
    assert ends == ["planner", "chief"]


async def test_a_tasks_failed_tool_is_rerun_when_the_invocation_is_resumed():
    failures = [OSError("no road")]

    def drive() -> str:
        if failures:
            raise failures.pop()
        return "there"

    agent = planner(Rule(after="drive", then=FINISH), Rule(then=Call("drive")), tools=[drive])
    conversation = resumable(chief(agent))
    with pytest.raises(OSError, match="no road"):
        await conversation.say("Plan!")
    failed = conversation.heard[-1]

    events = await leave(conversation, None, 0, invocation_id=failed.invocation_id)

    assert (failed.author, failed.error_code) == ("planner", "OSError")
    assert story(events)[0] == ("planner", "drive={'result': 'there'}")
    assert story(events)[-1][0] == "chief"


async def test_a_message_after_a_failure_goes_to_the_task():
    agent = planner(Rule(user="again", then=FINISH), Rule(then=Fail(raises=OSError("no road"))))
    conversation = Conversation(chief(agent))
    with pytest.raises(OSError, match="no road"):
        await conversation.say("Plan!")

    assert said((await conversation.say("again"))[-1]) == "Planned: again it is"


def approve() -> None:
    """Ask the boss."""


@pytest.mark.parametrize("yes", [False, True])
async def test_a_task_may_wait_for_an_answer_and_get_messages_meanwhile(yes):
    agent = planner(
        Rule(after="approve", then=FINISH),
        Rule(user="hurry", then=Say("I am waiting.")),
        Rule(then=Call("approve")),
        tools=[LongRunningFunctionTool(approve)],
    )
    conversation = resumable(chief(agent), yes=yes)
    [call] = (await conversation.say("Plan!"))[1].get_function_calls()

    meanwhile = await conversation.say("hurry")
    answer = types.Content(role="user", parts=[response_part("approve", call.id, result="yes")])
    end = await conversation.say(answer)

    assert story(meanwhile) == [("planner", "I am waiting.")]
    assert story(end)[-1][0] == "chief"


async def test_a_root_task_agent_begins_a_new_task_after_finishing_one():
    agent = planner()
    conversation = Conversation(agent)

    first = await conversation.say("Plan!")
    second = await conversation.say("Rome")
    third = await conversation.say("Another!")

    assert second[-1].output == {"result": "Rome it is"}
    assert first[0].invocation_id == second[0].invocation_id != third[0].invocation_id
    assert outline(agent.model.requests[1].contents)[0] == ("user", ["Plan!"])
    assert outline(agent.model.requests[-1].contents)[-1] == ("user", ["Another!"])


async def test_a_task_agent_called_as_a_tool_returns_its_output():
    agent = planner(Rule(then=FINISH), tools=[])
    rules = [
        Rule(after="planner", then=Say("Planned: {result}")),
        Rule(then=Call("planner", request="Plan.")),
    ]
    root = LlmAgent(name="root", model=ScriptedLlm(rules=rules), tools=[AgentTool(agent)])

    events = await Conversation(root).say("Plan!")

    assert events[1].get_function_responses()[0].response == {"result": "Plan. it is"}


async def test_an_abort_while_the_task_waits_for_the_user_leaves_it_open():
    conversation = Conversation(chief(planner()))
    await conversation._open()
    signal = asyncio.Event()
    async for event in conversation.runner.run_async(
        user_id="user",
        session_id="s",
        new_message=types.UserContent("Plan!"),
        abort_signal=signal,
    ):
        if event.author == "planner":
            signal.set()

    assert story(await conversation.say("Rome"))[-1][0] == "chief"


async def test_an_abort_during_a_task_ends_the_task():
    conversation = Conversation(chief(planner()))
    await conversation.say("Plan!")
    signal = asyncio.Event()
    async for event in conversation.runner.run_async(
        user_id="user", session_id="s", new_message=types.UserContent("Rome"), abort_signal=signal
    ):
        if event.get_function_calls():
            signal.set()

    events = (await conversation.session()).events
    sealed = {r.name: e.isolation_scope for e in events for r in e.get_function_responses()}
    assert sealed.keys() == {"planner", "look"}
    assert sealed["planner"] is None
    assert sealed["look"] is not None
    assert story(await conversation.say("thanks")) == [("chief", "Welcome.")]


async def test_a_message_with_its_own_invocation_does_not_go_to_the_task():
    conversation = Conversation(chief(planner()))
    await conversation.say("Plan!")

    events = await leave(conversation, "thanks", 0, invocation_id=new_invocation_context_id())

    assert story(events) == [("chief", "Welcome.")]


async def test_a_transfer_cannot_leave_a_task():
    agent = planner(Rule(then=Call("transfer_to_agent", agent_name="chief")))
    other = LlmAgent(name="other", model=ScriptedLlm(rules=[Rule(then=Say("Hi."))]))
    chief(agent, other)

    assert agent.may_hand_over_to == []


async def test_a_caller_that_leaves_ends_the_task_agents_run_too():
    ended = []

    class CountedEvent(LlmAgent):
        async def _run_async_impl(self, ctx):
            try:
                async for event in super()._run_async_impl(ctx):
                    yield event
            finally:
                ended.append(self.name)

    await leave(Conversation(chief(CountedEvent(**dict(planner())))), "Plan!", 2)

    assert ended == ["planner"]


async def test_a_custom_event_does_not_end_a_task():
    class Careless(BaseAgent):
        async def _run_async_impl(self, ctx):
            from_model = types.Content(role="model", parts=[types.Part(text="Hm.")])
            yield self._create_agent_state_event(ctx).model_copy(
                update={"content": from_model, "actions": EventActions()}
            )

    agent = planner(sub_agents=[Careless(name="careless")])
    conversation = Conversation(chief(agent))
    await conversation.say("Plan!")

    assert story(await conversation.say("Rome"))[-1][0] == "chief"


def finish_task() -> None:
    """Not that one."""


class Odd:
    """A type without a schema."""


@pytest.mark.parametrize(
    ("build", "advice"),
    [
        (lambda: SequentialAgent(name="flow", sub_agents=[planner()]), "below an LlmAgent"),
        (
            lambda: LlmAgent(name="one", mode="single_turn", sub_agents=[planner()]),
            "that can wait",
        ),
        (lambda: planner(tools=[finish_task]), "Rename the tool"),
        (
            lambda: planner(output_schema=Odd),
            "output_schema. is the class Odd; pass a pydantic class",
        ),
        (
            lambda: planner(output_schema=Callable[[], int]),
            "output_schema .*Callable.* cannot be described to a model",
        ),
    ],
)
def test_invalid_agents_are_refused_with_advice(build, advice):
    with pytest.raises(ValidationError, match=advice):
        build()
