"""Any name or id that can be created can be listed, read, changed and deleted."""

import json
import uuid
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kit.patience import PATIENCE
from tests.kit.rounds import rounds
from tests.kit.server import TOKEN

NAMES = [
    *("a/b", "/a", "a/", "//", "a//b", "a/../b", "../../etc/passwd", "a/versions/0", "a/versions"),
    *("back\\slash", "C:\\con", "...", ".a", "a.", "..a", "a..", "%2F", "%2f%2e", "%", "100%"),
    *("a?b", "a#b", "a;b=c", "a&b", "a+b", "a b", "a:b", "user:a/b", "@", "a'b\"c", "<b>", "{a}"),
    *(
        "two\nlines",
        "end\n",
        "tab\t",
        "ünï",
        "u\u0308",
        "名前",
        "🦊",
        "\u202e.txt",
        "\ufeff",
        "\x7f",
    ),
    *("artifacts", "users", "sessions", "x/sessions/y", "x/artifacts/y", "-", "--help", "0", "~"),
    *("%25", "null", "n" * 200, "🦊" * 200, "/" * 200, "%" * 200),
]
NAME = st.text(
    st.sampled_from("/\\.%?#;:&=+ 2Fe~ü🦊\n") | st.characters(exclude_categories=["Cs"]),
    min_size=1,
    max_size=40,
).filter(lambda text: "\0" not in text and text.strip() not in {"", ".", ".."})


def step(name: str) -> str:
    return quote(name, safe="")


def done(answer):
    assert answer.is_success, (answer.request.url, answer.text)
    return answer.json() if answer.content else None


def check(client, user: str, name: str, file: str) -> None:
    """Create, list, read, change and delete a session and a file, over both APIs and pages."""
    of_user = f"/apps/summary/users/{step(user)}"
    session = done(client.post(f"{of_user}/sessions", json={"sessionId": name}))
    assert (session["userId"], session["id"]) == (user, name.strip())
    assert [each["id"] for each in done(client.get(f"{of_user}/sessions"))] == [session["id"]]
    path = f"{of_user}/sessions/{step(name)}"
    assert done(client.get(path))["id"] == session["id"]
    assert done(client.patch(path, json={"stateDelta": {"a": 1}}))["state"] == {"a": 1}
    names = {"appName": "summary", "userId": user, "sessionId": name}
    message = {"role": "user", "parts": [{"text": "Hello"}]}
    assert done(client.post("/run", json={**names, "newMessage": message}))
    assert client.patch(f"{of_user}/memory", json={"sessionId": name}).is_success
    check_file(client, f"{path}/artifacts", file)
    query = {"app": "summary", "user": user, "id": name}
    [row] = done(client.get("/api/sessions", params=query))["sessions"]
    part = {"filename": file, "artifact": {"text": "x"}}
    done(client.post(f"{path}/artifacts", json=part))
    download = client.get(f"/sessions/{row['key']}/artifacts/{step(file)}")
    assert (download.status_code, download.text) == (200, "x")
    assert client.get(f"/sessions/{row['key']}").status_code == 200
    assert client.delete(path).is_success
    assert client.get(path).status_code == 404
    assert done(client.get(f"{of_user}/sessions")) == []


def check_file(client, files: str, name: str) -> None:
    part = {"filename": name, "artifact": {"text": "x"}}
    metadata = done(client.post(files, json=part))
    assert done(client.get(files)) == [name]
    of = f"{files}/{step(name)}"
    assert done(client.get(of)) == {"text": "x"}
    assert done(client.get(f"{of}/versions")) == [0]
    assert done(client.get(f"{of}/versions/0")) == {"text": "x"}
    assert done(client.get(f"{of}/versions/metadata")) == [metadata]
    assert done(client.get(f"{of}/versions/latest/metadata")) == metadata
    done(client.delete(of))
    assert done(client.get(files)) == []


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_known_odd_names_are_usable(client, name) -> None:
    check(client, name, name, name)


@settings(
    max_examples=rounds(8, 25),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(user=NAME, name=NAME, file=NAME.filter(lambda text: text != "user:"))
def test_random_names_are_usable(client, user, name, file) -> None:
    check(client, f"{uuid.uuid4()}{user}", name, file)


@pytest.mark.parametrize("name", [".", "..", " .. ", "\0", "n" * 2001])
def test_an_id_that_no_url_can_hold_is_refused_with_the_reason(client, name) -> None:
    path = "/apps/summary/users/refused/sessions"
    answer = client.post(path, json={"sessionId": name})
    assert answer.status_code == 400
    assert "the session's id" in answer.json()["detail"]
    file = {"appName": "summary", "userId": name.strip(" "), "id": "x", "events": []}
    headers = {"Content-Type": "application/json"}
    response = client.post("/api/sessions/import", content=json.dumps(file), headers=headers)
    assert (response.status_code, "the user's id" in response.text) == (400, True)
    assert done(client.get(path)) == []


@pytest.mark.parametrize("name", [".", ".."])
def test_a_file_named_like_a_dot_segment_is_read_with_encoded_dots(server, name) -> None:
    """As `curl` sends it. A browser would resolve the dots, so pages use `?name=`."""
    path = "/apps/summary/users/dots/sessions"
    with server.client() as client:
        session = done(client.post(path))["id"]
        part = {"filename": name, "artifact": {"text": "x"}}
        done(client.post(f"{path}/{session}/artifacts", json=part))
    dots = name.replace(".", "%2E")
    request = Request(f"{server.url}{path}/{session}/artifacts/{dots}")
    request.add_header("Authorization", f"Bearer {TOKEN}")
    with urlopen(request, timeout=PATIENCE) as answer:
        assert json.load(answer) == {"text": "x"}


def test_the_deprecated_endpoint_takes_the_id_from_the_path(client) -> None:
    path = f"/apps/summary/users/old/sessions/{step('a/b%2F ?')}"
    assert done(client.post(path, json={"a": 1}))["id"] == "a/b%2F ?"
    assert done(client.get(path))["state"] == {"a": 1}


def test_a_path_may_percent_encode_plain_characters(client) -> None:
    done(client.post("/apps/summary/users/spelled/sessions", json={"sessionId": "abc"}))
    for apps, name in (("%61pps", "abc"), ("apps", "%61bc")):
        path = f"/{apps}/summary/users/spelled/sessions/{name}"
        assert done(client.get(path))["id"] == "abc"
    answer = client.get("/apps/summary/users/sp%2Felled/sessions/", follow_redirects=False)
    assert answer.headers["location"].endswith("/apps/summary/users/sp%2Felled/sessions")
