"""Planners: the instruction for the model, and the processing of its answers."""

import pytest
from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.planners import BasePlanner, BuiltInPlanner, PlanReActPlanner
from tests.kit.conversation import STREAMED, Conversation, outline


def planning(planner, *rules, **fields):
    return LlmAgent(name="agent", model=ScriptedLlm(rules=rules), planner=planner, **fields)


def parts(event):
    return [(part.text, bool(part.thought)) for part in event.content.parts]


async def test_the_built_in_planner_sets_the_models_thinking():
    own = types.GenerateContentConfig(thinking_config=types.ThinkingConfig(thinking_budget=1))
    thinking = types.ThinkingConfig(include_thoughts=True)
    with pytest.warns(UserWarning, match="the planner.s is used"):
        agent = planning(
            BuiltInPlanner(thinking_config=thinking),
            Rule(then=Say("Hi.")),
            generate_content_config=own,
        )

    [event] = await Conversation(agent).say("Hello")

    assert agent.model.requests[0].config.thinking_config == thinking
    assert own.thinking_config.thinking_budget == 1
    assert parts(event) == [("Hi.", False)]


async def test_tagged_planning_text_becomes_thoughts():
    answer = "/*PLANNING*/1. Greet./*REASONING*/ Easy./*FINAL_ANSWER*/Hello!"
    agent = planning(PlanReActPlanner(), Rule(then=Say(answer)), output_key="answer")
    conversation = Conversation(agent)

    [event] = await conversation.say("Hi")

    assert parts(event) == [("1. Greet. Easy.", True), ("Hello!", False)]
    assert (await conversation.session()).state == {"answer": "Hello!"}
    assert "/*REPLANNING*/" in agent.model.requests[0].config.system_instruction


def look() -> str:
    """Look out."""
    return "rain"


async def test_a_plan_before_a_call_is_a_thought_and_text_after_it_is_dropped():
    agent = planning(
        PlanReActPlanner(),
        Rule(after="look", then=Say("/*FINAL_ANSWER*/It rains.")),
        Rule(then=[Say("/*PLANNING*/Look out."), Call("look"), Call("look"), Say("It is dry.")]),
        tools=[look],
    )

    call, _, answer = await Conversation(agent).say("Weather?")

    assert parts(call) == [("Look out.", True), (None, False), (None, False)]
    assert parts(answer) == [("It rains.", False)]
    content = agent.model.requests[1].contents[1]
    assert content.parts[0].text == "Look out."
    assert not content.parts[0].thought


async def test_text_without_tags_and_streamed_fragments_are_unchanged():
    agent = planning(PlanReActPlanner(), Rule(then=Say("Just so.", chunks=2)))

    events = await Conversation(agent).say("Hi", STREAMED)

    assert [parts(event) for event in events] == [
        [("Just", False)],
        [(" so.", False)],
        [("Just so.", False)],
    ]


class Counting(BasePlanner):
    def build_planning_instruction(self, readonly_context, llm_request):
        return f"Plan for {readonly_context.agent_name}."

    def process_planning_response(self, callback_context, response_parts):
        callback_context.state["answers"] = callback_context.state.get("answers", 0) + 1
        return [*response_parts, types.Part(text="(planned)")]


async def test_a_custom_planner_may_change_the_state():
    agent = planning(Counting(), Rule(then=Say("Hi.")))
    conversation = Conversation(agent)

    change, answer = await conversation.say("Hello")

    assert change.actions.state_delta == {"answers": 1}
    assert outline([answer.content]) == [("model", ["Hi.", "(planned)"])]
    assert agent.model.requests[0].config.system_instruction.endswith("Plan for agent.")
    assert (await conversation.session()).state == {"answers": 1}
