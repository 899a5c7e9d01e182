"""The examples of docs/guide/workflow.md do what the page says."""

import re

from google.genai import types

from devui.runtime import Workflow
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.runners import InMemoryRunner
from tests.source import ROOT

PAGE = ROOT / "docs" / "guide" / "workflow.md"
HEADLINE, FETCH, TRIP, APPROVE, TRANSLATE = re.findall(
    r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
)


def defined(example):
    names = {}
    exec(compile(example, PAGE.name, "exec", dont_inherit=True), names)
    return names


async def outputs(root, text, **how):
    events = await InMemoryRunner(root).run_debug(text, quiet=True, **how)
    return {event.node_info.name: event.output for event in events if event.output is not None}


async def test_a_graph_takes_the_route_that_its_node_chooses():
    root = defined(HEADLINE)["root_agent"]

    long = await outputs(root, "rain is expected for tomorrow")
    short = await outputs(root, "rain expected")

    assert long["both"] == {"count": 5, "shout": "RAIN IS EXPECTED FOR TOMORROW"}
    assert long["shorten"] == "RAIN IS EXPE…"
    assert short["keep"] == "RAIN EXPECTED"
    assert "keep" not in long


async def test_a_node_is_retried_and_another_runs_for_each_item():
    names = defined(FETCH)

    def words(node_input: str) -> list[str]:
        return node_input.split()

    edges = [("START", names["fetch"], words, names["length"])]
    results = await outputs(Workflow(name="wf", edges=edges), "page")

    assert results["fetch"] == "page, at attempt 3"
    assert results["length"] == [5, 2, 7, 1]


async def test_a_node_continues_when_the_person_has_answered():
    runner = InMemoryRunner(defined(APPROVE)["root_agent"])
    [question_event] = await runner.run_debug("Dear Ann", quiet=True)
    [question] = question_event.get_function_calls()
    answer = types.FunctionResponse(id=question.id, name=question.name, response={"result": "true"})
    message = types.Content(role="user", parts=[types.Part(function_response=answer)])

    events = [
        event
        async for event in runner.run_async(
            user_id="debug_user_id", session_id="debug_session_id", new_message=message
        )
    ]

    assert question.args["message"] == "Send it?"
    assert [event.output for event in events] == ["Dear Ann: sent"]
    assert events[0].invocation_id == question_event.invocation_id


async def test_a_node_runs_other_nodes():
    root = Workflow(name="wf", edges=[("START", defined(TRANSLATE)["translations"])])

    results = await outputs(root, "yes")

    assert results["translations"] == ["yes (fr)", "yes (de)"]


async def test_a_model_calls_a_workflow():
    agent = defined(TRIP)["root_agent"]
    rule = Rule(after="trip", then=Say("That is {result.price}."))
    agent.model = ScriptedLlm(rules=[rule, Rule(then=Call("trip", request="Rome"))])

    *_, last = await InMemoryRunner(agent).run_debug("A trip to Rome", quiet=True)

    assert last.content.parts[0].text == "That is 240."
    assert (await outputs(agent, "A trip to Rome"))["plan"] == ["Rome, day 1", "Rome, day 2"]
