"""Artifacts over ADK's REST API (adk-web 1.4)."""

import base64
import uuid
from urllib.parse import quote

import pytest

from tests.kit.server import make_session

TEXT = {"text": "To do"}
BYTES = b"\x89PNG\r\n\x1a\n\xff\xfe"


def inline(data: bytes, mime: str = "image/png") -> dict[str, object]:
    return {"inlineData": {"mimeType": mime, "data": base64.b64encode(data).decode()}}


def path_of(client, user: str) -> str:
    """The path of a new session's artifacts."""
    session = make_session(client, "summary", user=user)
    return f"/apps/summary/users/{user}/sessions/{session['id']}/artifacts"


@pytest.fixture
def files(client):
    """The path of the artifacts of a new user's session."""
    return path_of(client, str(uuid.uuid4()))


def save(client, files: str, name: str, part: dict[str, object], **more: object):
    answer = client.post(files, json={"filename": name, "artifact": part, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_artifact_is_saved_listed_read_and_deleted(client, files):
    first = save(client, files, "plan.png", inline(BYTES), custom_metadata={"by": ["me"]})
    assert first.pop("createTime") > 1_700_000_000
    assert first.pop("canonicalUri").startswith("devui:/" + files)
    assert first == {"version": 0, "customMetadata": {"by": ["me"]}, "mimeType": "image/png"}
    assert save(client, files, "plan.png", TEXT)["mimeType"] == "text/plain"
    save(client, files, "user:me.txt", TEXT)
    assert client.get(files).json() == ["plan.png", "user:me.txt"]
    of = f"{files}/plan.png"
    assert client.get(of).json() == TEXT
    for path in (f"{of}?version=0", f"{of}/versions/0"):
        part = client.get(path).json()["inlineData"]
        assert base64.urlsafe_b64decode(part["data"]) == BYTES
    assert client.get(f"{of}/versions").json() == [0, 1]
    assert client.get(f"{of}/versions/latest").json() == TEXT
    versions = client.get(f"{of}/versions/metadata").json()
    assert [each["version"] for each in versions] == [0, 1]
    assert client.get(f"{of}/versions/1/metadata").json() == versions[1]
    assert client.get(f"{of}/versions/latest/metadata").json() == versions[1]
    for _ in range(2):
        answer = client.delete(of)
        assert (answer.status_code, answer.json()) == (200, None)
    assert client.get(files).json() == ["user:me.txt"]


def test_a_user_artifact_is_in_all_sessions_of_its_user(client, files):
    save(client, files, "user:shared.txt", TEXT)
    user = files.split("/")[4]
    assert client.get(f"{path_of(client, user)}/user:shared.txt").json() == TEXT
    assert client.get(f"{path_of(client, 'stranger')}/user:shared.txt").status_code == 404


@pytest.mark.req("R24")
@pytest.mark.req("R23")
@pytest.mark.parametrize(
    "name",
    [
        "two\nlines.txt",
        "end\n",
        "a/b.txt",
        "../../etc/passwd",
        "C:\\con",
        "%2e%2e%2f",
        "a?b#c",
        "\u202e.txt",
    ],
)
def test_an_artifact_name_may_have_any_characters(client, files, name):
    save(client, files, name, TEXT)
    assert client.get(files).json() == [name]
    of = f"{files}/{quote(name, safe='')}"
    assert client.get(of).json() == TEXT
    assert client.get(f"{of}/versions").json() == [0]
    assert client.delete(of).status_code == 200
    assert client.get(files).json() == []


@pytest.mark.parametrize(
    ("path", "status", "detail"),
    [
        ("none", 404, "Artifact not found"),
        ("there?version=7", 404, "Artifact not found"),
        ("there/versions/7", 404, "Artifact not found"),
        ("there/versions/7/metadata", 404, "Artifact version not found"),
        ("there/versions/one", 422, "Invalid version ID"),
        ("there/versions/-1/metadata", 422, "Invalid version ID"),
    ],
)
def test_a_missing_artifact_is_reported_in_adks_words(client, files, path, status, detail):
    save(client, files, "there", TEXT)
    answer = client.get(f"{files}/{path}")
    assert (answer.status_code, answer.json()) == (status, {"detail": detail})


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"artifact": TEXT}, 422),
        ({"filename": "a", "artifact": "text"}, 422),
        ({"filename": "a", "artifact": {}}, 400),
        ({"filename": "a", "artifact": {"inlineData": {"data": "x"}}}, 422),
        ({"filename": "a\0", "artifact": TEXT}, 400),
    ],
)
def test_an_invalid_artifact_is_refused(client, files, body, status):
    answer = client.post(files, json=body)
    assert answer.status_code == status, answer.text
    assert client.get(files).json() == []


def test_artifacts_of_a_missing_session_are_not_found(client):
    path = "/apps/summary/users/filer/sessions/none/artifacts"
    for answer in (
        client.get(path),
        client.get(path + "/a"),
        client.post(path, json={"filename": "a", "artifact": TEXT}),
        client.delete(path + "/a"),
    ):
        assert (answer.status_code, answer.json()) == (404, {"detail": "Session not found"})


@pytest.mark.req("R27")
def test_the_artifacts_of_an_imported_session_are_read_only(client, files):
    save(client, files, "a", TEXT)
    user, session = files.split("/")[4:7:2]
    query = {"app": "summary", "user": user, "id": session}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    bundle = client.get(f"/api/sessions/{row['key']}/export").content
    headers = {"Content-Type": "application/json"}
    copy = client.post("/api/sessions/import", content=bundle, headers=headers).json()
    path = f"/apps/summary/users/{quote(copy['user'])}/sessions/{copy['id']}/artifacts"
    assert client.get(f"{path}/a").json() == TEXT
    assert client.post(path, json={"filename": "a", "artifact": TEXT}).status_code == 409
    assert client.delete(f"{path}/a").status_code == 409
    assert client.get(f"{path}/a/versions").json() == [0]


@pytest.mark.req("R27")
def test_artifact_names_survive_export_and_import(client, files):
    names = ["x" * 5_000, " ", "..", "\n"]
    for name in names:
        save(client, files, name, TEXT)
    for nothing in ("", "user:"):
        refused = client.post(files, json={"filename": nothing, "artifact": TEXT})
        assert (refused.status_code, "has no name" in refused.text) == (400, True)
    [app, user, session] = files.split("/")[2:7:2]
    query = {"app": app, "user": user, "id": session}
    key = client.get("/api/sessions", params=query).json()["sessions"][0]["key"]
    bundle = client.get(f"/api/sessions/{key}/export").content
    headers = {"Content-Type": "application/json"}
    response = client.post("/api/sessions/import", content=bundle, headers=headers)
    assert response.status_code == 201, response.text
    files_of_copy = client.get(
        f"/apps/{app}/users/{user}/sessions/{response.json()['id']}/artifacts"
    ).json()
    assert sorted(files_of_copy) == sorted(names)
