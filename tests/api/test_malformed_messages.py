"""A message that no runtime can read is refused before a run starts, with the place."""

import pytest

from tests.kit.server import get_session, make_session


@pytest.mark.parametrize(
    ("part", "place"),
    [
        ({"inlineData": {"data": "%%%", "mimeType": "a/b"}}, "inlineData.data"),
        ({"inlineData": {"data": "abcde", "mimeType": "a/b"}}, "inlineData.data"),
        ({"text": "x", "thought": "perhaps"}, "thought"),
        ({"text": "x", "thoughtSignature": "%"}, "thoughtSignature"),
        ({"fileData": {"fileUri": 7}}, "fileData.fileUri"),
        ({"executableCode": {"code": [1]}}, "executableCode.code"),
        ({"codeExecutionResult": "done"}, "codeExecutionResult"),
        ({"functionResponse": {"name": "f", "response": 7}}, "functionResponse.response"),
        ({"functionResponse": {"willContinue": "maybe"}}, "functionResponse.willContinue"),
        ({"functionCall": {"name": "f", "arguments": {}}}, "functionCall.arguments"),
        ({"text": "x", "foo": 1}, "foo"),
        ({"inlineData": {"data": "aGk=", "mimeType": ["a/b"]}}, "inlineData.mimeType"),
        ({"videoMetadata": {"fps": "fast"}}, "videoMetadata.fps"),
        ({"partMetadata": []}, "partMetadata"),
    ],
)
@pytest.mark.parametrize("path", ["/run", "/run_sse"])
def test_a_malformed_part_is_refused_with_the_place(client, path, part, place) -> None:
    session = make_session(client, "summary")["id"]
    message = {"role": "user", "parts": [{"text": "hello"}, part]}
    names = {"appName": "summary", "userId": "u", "sessionId": session}
    answer = client.post(path, json={**names, "newMessage": message})
    assert answer.status_code == 422, answer.text
    [problem] = answer.json()["detail"]
    assert problem["loc"] == ["body", "newMessage", "parts", 1, *place.split(".")]
    assert get_session(client, "summary", session)["events"] == []


@pytest.mark.parametrize("data", ["aGk=", "aGk", "_-8=", "+/8="])
def test_both_base64_alphabets_are_accepted(client, data) -> None:
    session = make_session(client, "summary")["id"]
    message = {"parts": [{"text": "see"}, {"inlineData": {"data": data, "mimeType": "a/b"}}]}
    names = {"appName": "summary", "userId": "u", "sessionId": session}
    assert client.post("/run", json={**names, "newMessage": message}).status_code == 200


CALL = {"functionCall": {"name": "f", "args": {}}}
ANSWER = {"functionResponse": {"id": "c1", "name": "f", "response": {}}}


@pytest.mark.parametrize(
    "parts", [None, [], [CALL], [{"text": "x"}, CALL], [{"text": "x"}, ANSWER]]
)
@pytest.mark.parametrize("path", ["/run", "/run_sse"])
def test_a_message_that_no_user_can_send_starts_no_run(client, path, parts) -> None:
    session = make_session(client, "summary")["id"]
    names = {"appName": "summary", "userId": "u", "sessionId": session}
    answer = client.post(path, json={**names, "newMessage": {"role": "user", "parts": parts}})
    assert answer.status_code == 422, answer.text
    assert [each["loc"] for each in answer.json()["detail"]] == [["body", "newMessage"]]
    query = {"app": "summary", "user": "u", "id": session}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    assert client.get(f"/api/sessions/{row['key']}/runs").json()["runs"] == []
    started = client.post(f"/api/sessions/{row['key']}/runs", json={"message": {"parts": parts}})
    assert started.status_code == 422


RESPONSE = {"name": "f", "response": {"ok": True}}


def calling(number: int) -> dict[str, object]:
    """An event with a call in an invocation of its own."""
    parts = [{"functionCall": {"id": f"c{number}", "name": "f"}}]
    return {"author": "summary", "invocationId": f"i{number}", "content": {"parts": parts}}


REWIND = {"author": "user", "actions": {"rewindBeforeInvocationId": "i3"}}
CALLS = [*map(calling, (1, 2, 3)), REWIND]


def runs_of(client, session):
    query = {"app": "summary", "user": "u", "id": session}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    return row["key"], client.get(f"/api/sessions/{row['key']}/runs").json()["runs"]


@pytest.mark.parametrize(
    ("ids", "why"),
    [
        (["c9"], "'c9', which this session does not have"),
        (["c1", "c9"], "'c9', which this session does not have"),
        (["c3"], "'c3', which a rewind has taken back"),
        (["c1", "c2"], "several invocations"),
    ],
)
@pytest.mark.parametrize("path", ["/run", "/run_sse"])
def test_an_answer_to_an_unknown_call_starts_no_run(client, path, ids, why) -> None:
    session = make_session(client, "summary", events=CALLS)["id"]
    message = {"parts": [{"functionResponse": {"id": each, **RESPONSE}} for each in ids]}
    names = {"appName": "summary", "userId": "u", "sessionId": session}
    answer = client.post(path, json={**names, "newMessage": message})
    assert (answer.status_code, why in answer.text) == (422, True), answer.text
    key, runs = runs_of(client, session)
    assert runs == []
    refused = client.post(f"/api/sessions/{key}/runs", json={"message": message})
    assert (refused.status_code, why in refused.text) == (422, True), refused.text
    assert len(get_session(client, "summary", session)["events"]) == len(CALLS)


@pytest.mark.parametrize("response", [{"id": "c1", **RESPONSE}, RESPONSE])
def test_an_answer_to_a_known_call_or_without_an_id_starts_a_run(client, response) -> None:
    session = make_session(client, "summary", events=CALLS[:1])["id"]
    message = {"parts": [{"functionResponse": response}]}
    names = {"appName": "summary", "userId": "u", "sessionId": session}
    answer = client.post("/run", json={**names, "newMessage": message})
    assert answer.status_code == 200, answer.text
