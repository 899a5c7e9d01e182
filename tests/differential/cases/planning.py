"""Planners: what they tell the model, and how they change its answers."""

import warnings
from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.differing import ONE_ID
from tests.differential.script import Say, call

TEXTS = {
    "a plan": "/*PLANNING*/ First look, then tell.",
    "a plan and reasons": "/*PLANNING*/ Look. /*REASONING*/ I see. /*ACTION*/ Go.",
    "an answer": "/*FINAL_ANSWER*/ All is well.",
    "reasons and an answer": "/*REASONING*/ It is ok. /*FINAL_ANSWER*/ All is well.",
    "words before a tag": "So. /*REASONING*/ It is ok.",
    "words before an answer": "So. /*FINAL_ANSWER*/ It is ok.",
    "two answers": "/*FINAL_ANSWER*/ One. /*FINAL_ANSWER*/ Two.",
    "an empty answer": "/*REASONING*/ Hm. /*FINAL_ANSWER*/",
    "no tag": "Plain words.",
    "a plan anew": "/*REPLANNING*/ Other way. /*FINAL_ANSWER*/ Done.",
    "a tag alone": "/*PLANNING*/",
}


def look(what: str = "sky") -> str:
    """Looks."""
    return f"{what} is ok"


async def _tagged(stage, text, streamed):
    answer = Say(text, chunks=3 if streamed else 1)
    agent = stage.agent(
        "agent", answer, "Next.", planner=stage.ns.PlanReActPlanner(), output_key="said"
    )
    await stage.open(agent)
    await (stage.stream if streamed else stage.say)("go")
    await stage.say("next")


for _name, _text in TEXTS.items():
    for _streamed in (False, True):
        _how = ", streamed" if _streamed else ""
        add(
            Case(f"a planner reads {_name}{_how}", partial(_tagged, text=_text, streamed=_streamed))
        )

MIXED: dict[str, list[Any]] = {
    "words and a call": ["/*ACTION*/ I look.", call("look")],
    "a call alone": [call("look")],
    "two calls": [call("look"), call("look", what="sea")],
    "a call and words after it": [call("look"), "/*REASONING*/ Done."],
    "calls with words between": [call("look"), "And:", call("look", what="sea")],
    "a thought and a call": [Say("Hm.", thought=True), call("look")],
}


async def _mixed(stage, answer):
    agent = stage.agent(
        "agent",
        answer,
        "/*FINAL_ANSWER*/ Done.",
        "Next.",
        tools=[look],
        planner=stage.ns.PlanReActPlanner(),
        output_key="said",
    )
    await stage.open(agent)
    await stage.say("go")
    await stage.say("next")


for _name, _mixed_ in MIXED.items():
    add(Case(f"a planner reads {_name}", partial(_mixed, answer=_mixed_)))


def _planner(stage: Any, parts: Any, instruction: str | None = "Case: plan") -> Any:
    class Planner(stage.ns.BasePlanner):
        def build_planning_instruction(self, readonly_context, llm_request):
            stage.note("build", readonly_context.agent_name, len(llm_request.contents))
            return instruction

        def process_planning_response(self, callback_context, response_parts):
            stage.note("process", [part.text for part in response_parts])
            callback_context.state["plans"] = callback_context.state.get("plans", 0) + 1
            return parts

    return Planner()


async def _own(stage, parts, instruction, streamed):
    planner = _planner(stage, parts, instruction)
    agent = stage.agent("agent", Say("Said so.", chunks=2), "Again.", planner=planner)
    await stage.open(agent)
    await (stage.stream if streamed else stage.say)("go")
    await stage.say("next")


OWN = {
    "replaces the answer": ([types.Part(text="Planned.")], "Case: plan"),
    "leaves the answer": (None, "Case: plan"),
    "gives no parts": ([], "Case: plan"),
    "gives no instruction": (None, None),
}
for _name, (_parts, _instruction) in OWN.items():
    for _streamed in (False, True):
        _how = ", streamed" if _streamed else ""
        add(
            Case(
                f"a planner of ones own {_name}{_how}",
                partial(_own, parts=_parts, instruction=_instruction, streamed=_streamed),
                ONE_ID if _streamed else None,
            )
        )


@case()
async def a_built_in_planner_goes_before_the_settings(stage):
    ours = types.ThinkingConfig(include_thoughts=True, thinking_budget=9)
    theirs = types.ThinkingConfig(thinking_budget=1)
    config = types.GenerateContentConfig(thinking_config=theirs, temperature=0.1)
    planner = stage.ns.BuiltInPlanner(thinking_config=ours)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        answers = [Say("Hm.", thought=True), "Ok."], "Next."
        agent = stage.agent("agent", *answers, planner=planner, generate_content_config=config)
    stage.note([each.category.__name__ for each in warned])
    await stage.open(agent)
    await stage.say("go")
    await stage.say("next")


@case()
async def a_planner_beside_an_agent_without(stage):
    agents = [
        stage.agent("one", "/*FINAL_ANSWER*/ One.", planner=stage.ns.PlanReActPlanner()),
        stage.agent("two", "Two."),
    ]
    await stage.open(stage.ns.SequentialAgent(name="seq", sub_agents=agents))
    await stage.say("go")
