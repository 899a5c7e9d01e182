"""A task waits for the user in the journal, for as long as it takes."""

from tests.kit.server import get_session, make_session, run, running, write_app

APP = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm

planner = Agent(
    name="planner",
    description="Plans.",
    mode="task",
    model=ScriptedLlm(
        rules=[
            Rule(user="Rome", then=Call("finish_task", result="{user} it is")),
            Rule(then=Say("Which city?")),
        ]
    ),
)
root_agent = Agent(
    name="chief",
    model=ScriptedLlm(
        rules=[
            Rule(after="planner", then=Say("Planned: {result}")),
            Rule(then=Call("planner", request="Plan a trip.")),
        ]
    ),
    sub_agents=[planner],
)
"""


def test_a_task_continues_with_the_next_message_after_a_kill(tmp_path):
    write_app(tmp_path / "agents", "trip", APP)
    with running(tmp_path / "agents", tmp_path / "data") as server:
        with server.client() as client:
            session = make_session(client, "trip")["id"]
            first = run(client, "trip", session, "Plan!")
            server.kill()
        server.start()
        with server.client() as client:
            second = run(client, "trip", session, "Rome")
            events = get_session(client, "trip", session)["events"]

    assert [event["author"] for event in first] == ["chief", "planner"]
    assert [event["author"] for event in second] == ["planner", "planner", "user", "chief"]
    assert second[1]["output"] == {"result": "Rome it is"}
    assert second[-1]["content"]["parts"] == [{"text": "Planned: Rome it is"}]
    assert {event["invocationId"] for event in events} == {first[0]["invocationId"]}
    assert events[3]["isolationScope"] == first[1]["isolationScope"]
    assert [each["id"] for each in events if each["author"] != "user"] == [
        each["id"] for each in first + second if each["author"] != "user"
    ]
