"""A task waits for the user on the server, in the journal, as long as it takes."""

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


def test_a_task_goes_on_with_the_next_message_also_after_a_kill_of_the_server(tmp_path):
    write_app(tmp_path / "agents", "trip", APP)
    with running(tmp_path / "agents", tmp_path / "data") as server:
        with server.client() as client:
            session = make_session(client, "trip")["id"]
            asked = run(client, "trip", session, "Plan!")
            server.kill()
        server.start()
        with server.client() as client:
            done = run(client, "trip", session, "Rome")
            kept = get_session(client, "trip", session)["events"]

    assert [event["author"] for event in asked] == ["chief", "planner"]
    assert [event["author"] for event in done] == ["planner", "planner", "user", "chief"]
    assert done[1]["output"] == {"result": "Rome it is"}
    assert done[-1]["content"]["parts"] == [{"text": "Planned: Rome it is"}]
    assert {event["invocationId"] for event in kept} == {asked[0]["invocationId"]}
    assert kept[3]["isolationScope"] == asked[1]["isolationScope"]
    assert [each["id"] for each in kept if each["author"] != "user"] == [
        each["id"] for each in asked + done if each["author"] != "user"
    ]
