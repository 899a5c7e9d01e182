"""Calls each method of `Client.adk` as a script does: mypy checks types, a test the answers.

The server has the apps of `tests.differential.routes`.
"""

from typing import TYPE_CHECKING, Any, Literal, assert_type

from devui.client import Client, DevuiError

if TYPE_CHECKING:
    from devui.web.adk.answers import AdkAgentJson, AdkAppJson, AdkSessionJson, AdkSpanJson
    from devui.web.adk.event_json import AdkEventJson, AdkPartJson

APP = "toolbox"
USER = "u"


def call_every_method(client: Client) -> None:
    ask_what_is_there(client)
    work_with_sessions(client)
    work_with_files(client)
    look_behind_a_run(client)
    look_into_an_app(client)


def ask_what_is_there(client: Client) -> None:
    adk = client.adk
    assert assert_type(adk.health()["status"], Literal["ok"]) == "ok"
    assert assert_type(adk.version()["language"], str) == "python"
    assert APP in assert_type(adk.list_apps(), list[str])
    detailed: list[AdkAppJson] = adk.list_apps(detailed=True)["apps"]
    assert APP in {each["name"] for each in detailed}
    agents: dict[str, AdkAgentJson] = adk.app_info(APP)["agents"]
    assert agents["toolbox"]["tools"][0]["functionDeclarations"][0]["name"] == "note"
    assert "/run_sse" in assert_type(adk.openapi(), dict[str, Any])["paths"]


def work_with_sessions(client: Client) -> None:
    adk = client.adk
    session: AdkSessionJson = adk.create_session(APP, USER, session_id="s", state={"n": 1})
    assert session["state"] == {"n": 1}
    assert adk.create_session_with_id(APP, USER, "named")["id"] == "named"
    events: list[AdkEventJson] = adk.run(USER, "s", app_name=APP, new_message=message("call note"))
    assert events[0]["content"]["parts"][0]["functionCall"]["args"] == {"word": "tea"}
    assert events[1]["actions"]["stateDelta"] == {"word": "tea"}
    streamed = adk.run_sse(USER, "s", app_name=APP, new_message=message("hi"), streaming=True)
    assert [each.get("partial", False) for each in streamed] == [True, True, True, False]
    changed = adk.patch_session(APP, USER, "s", {"n": 2})
    copy = adk.create_session(APP, USER, session_id="copy", events=changed["events"])
    assert [each["id"] for each in copy["events"]] == [each["id"] for each in changed["events"]]
    adk.add_session_to_memory(APP, USER, "s")
    adk.delete_session(APP, USER, "named")
    assert {each["id"] for each in adk.list_sessions(APP, USER)} == {"s", "copy"}


def work_with_files(client: Client) -> None:
    adk = client.adk
    metadata = adk.save_artifact(APP, USER, "s", "a.txt", artifact={"text": "hi"})
    part: AdkPartJson = adk.load_artifact(APP, USER, "s", "a.txt")
    assert part == {"text": "hi"}
    adk.save_artifact(APP, USER, "s", "a.txt", artifact=part)
    assert assert_type(adk.list_artifacts(APP, USER, "s"), list[str]) == ["a.txt"]
    assert assert_type(adk.list_versions(APP, USER, "s", "a.txt"), list[int]) == [0, 1]
    assert adk.load_version(APP, USER, "s", "a.txt", version="latest")["text"] == "hi"
    assert adk.version_metadata(APP, USER, "s", "a.txt", version="0") == metadata
    assert len(adk.list_versions_metadata(APP, USER, "s", "a.txt")) == 2
    adk.delete_artifact(APP, USER, "s", "a.txt")
    assert adk.list_artifacts(APP, USER, "s") == []


def look_behind_a_run(client: Client) -> None:
    adk = client.adk
    spans: list[AdkSpanJson] = adk.session_spans(APP, "s")
    assert {each["name"].split()[0] for each in spans} >= {"generate_content", "execute_tool"}
    _, call, result, *_ = adk.get_session(APP, USER, "s")["events"]
    span = assert_type(adk.event_span(APP, result["id"]), dict[str, Any])
    assert span["gen_ai.tool.name"] == "note"
    assert "digraph" in adk.event_graph(APP, USER, "s", call["id"])["dotSrc"]
    assert "dotSrc" not in adk.event_graph(APP, USER, "s", "no such event")


def look_into_an_app(client: Client) -> None:
    adk = client.adk
    assert assert_type(adk.app_build(APP)["root_agent"], dict[str, Any])["name"] == "toolbox"
    assert "digraph" in adk.app_graph(APP, dark_mode=True)["dotSrc"]
    assert "helper" in adk.agent_graphs(APP, node="toolbox/helper")["toolbox/helper"]["dotSrc"]
    assert assert_type(adk.agent_yaml(APP, file_path="extra.yaml"), str) == "name: extra\n"
    assert assert_type(adk.list_tests(APP), list[str]) == ["one.json"]
    assert adk.get_test(APP, "one")["b"] == 1


def failure(client: Client) -> str:
    """Return the message that a stream ends with when the agent's code raises."""
    try:
        for _ in client.adk.run_sse(USER, "s", app_name=APP, new_message=message("fail")):
            pass
    except DevuiError as error:
        return error.message
    return ""


def message(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text}]}
