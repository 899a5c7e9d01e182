"""Tags of sessions over HTTP: through the API and forms, in lists, the search and bundles."""

import json
import re

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import SAMPLES, make_session, running

JSON = {"content-type": "application/json"}


@pytest.fixture
def client(tmp_path):
    with running(SAMPLES, tmp_path / "data") as server, server.client() as client:
        yield client


@pytest.fixture
def sessions(client, request):
    """Three sessions of the app `summary` whose ids begin with the test's name, by letter."""
    keys = {}
    for letter in "abc":
        name = f"{request.node.name}-{letter}"
        make_session(client, "summary", sessionId=name)
        [row] = client.get(f"/api/sessions?app=summary&id={name}").json()["sessions"]
        keys[letter] = row["key"]
    return keys


def change(client, key, **body):
    answer = client.patch(f"/api/sessions/{key}/tags", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["tags"]


def post(client, path, fields):
    """Send a form as a page without scripts does."""
    origin = str(client.base_url).rstrip("/")
    return client.post(path, data=fields, headers={"Origin": origin, "Accept": "text/html"})


def list_keys(client, **query):
    return {each["key"] for each in client.get("/api/sessions", params=query).json()["sessions"]}


def search(client, text):
    sessions = client.get("/api/search", params={"q": text}).json()["sessions"]
    return {each["key"]: [hit["number"] for hit in each["hits"]] for each in sessions}


def test_tags_are_changed_counted_and_select_sessions(client, sessions):
    a, b, c = sessions.values()
    assert change(client, a, add=["Bug", "needs review"]) == ["Bug", "needs review"]
    assert change(client, b, add=["bug"]) == ["Bug"]
    counts = client.get("/api/tags?app=summary").json()["tags"]
    assert counts == [{"name": "Bug", "sessions": 2}, {"name": "needs review", "sessions": 1}]
    assert client.get("/api/tags?app=refunds").json()["tags"] == []
    rows = client.get("/api/sessions?tag=BUG").json()["sessions"]
    assert {each["key"]: each["tags"] for each in rows} == {a: ["Bug", "needs review"], b: ["Bug"]}
    assert list_keys(client, tag="bug", app="travel") == set()
    for text, expected in {
        "tag:bu": {a, b},
        'tag:"needs review"': {a},
        "-tag:needs": {b, c},
        "tag:bug test_tags": {a, b},
        f"tag:bug {a}": {a},
        "tag:bug elsewhere": set(),
        "tag:": set(),
        '(gate == "x") tag:bug': set(),
    }.items():
        assert list_keys(client, app="summary", q=text) == expected, text
    assert client.get("/api/sessions?app=summary&tag=bug&sort=title").status_code == 400
    assert change(client, a, remove=["BUG", "nothing"], add=["done"]) == ["done", "needs review"]
    assert client.patch(f"/api/sessions/{a}/tags", json={"add": "done"}).status_code == 422
    refused = client.patch(f"/api/sessions/{a}/tags", json={"add": ["fine", "x" * 51]})
    assert (refused.status_code, "at most 50 characters" in refused.text) == (400, True)
    assert change(client, a) == ["done", "needs review"]
    assert client.patch("/api/sessions/99999/tags", json={"add": ["x"]}).status_code == 404


def test_forms_tag_one_session_or_several(client, sessions):
    a, b, c = sessions.values()
    done = post(client, f"/sessions/{a}/tags", {"add": " slow , Bug,"})
    assert (done.status_code, done.headers["location"]) == (303, f"/sessions/{a}")
    page = client.get(f"/sessions/{a}", headers={"Accept": "text/html"}).text
    assert re.findall(r'aria-label="Remove the tag ([^"]+)"', page) == ["Bug", "slow"]
    post(client, f"/sessions/{a}/tags", {"remove": "slow"})
    assert change(client, a) == ["Bug"]
    for wrong, reason in ((" , ", "type its name"), ("say \\", "backslashes")):
        refused = post(client, f"/sessions/{a}/tags", {"add": wrong})
        assert (refused.status_code, reason in refused.text) == (400, True)

    elsewhere = DebuggedRun(client, "travel").key
    path = "/apps/summary/sessions/tags?q=test_forms&sort=title"
    chosen = {"session": [a, b, elsewhere], "tags": "bug, later"}
    done = post(client, path, {**chosen, "do": "add"})
    location = "/apps/summary?q=test_forms&sort=title#sessions"
    assert (done.status_code, done.headers["location"]) == (303, location)
    assert [change(client, key) for key in (a, b, c)] == [["Bug", "later"], ["Bug", "later"], []]
    assert change(client, elsewhere) == []
    post(client, path, {"session": [b, c], "tags": "BUG", "do": "remove"})
    assert [change(client, key) for key in (a, b, c)] == [["Bug", "later"], ["later"], []]
    for fields, status in (
        ({**chosen, "tags": "", "do": "add"}, 400),
        ({**chosen, "do": "paint"}, 400),
        ({"tags": "bug", "do": "add"}, 422),
    ):
        assert post(client, path, fields).status_code == status


def test_a_search_covers_only_sessions_with_the_tags(client, sessions):
    first, second = (DebuggedRun(client, "travel") for _ in range(2))
    for each in (first, second):
        each.start("Book a flight to London next Tuesday", pause=False).settled()
    change(client, first.key, add=["good trip"])
    fork = client.post(f"/api/sessions/{second.key}/forks", json={"number": 2}).json()["key"]
    assert change(client, fork) == []  # a fork has no tags of its parent
    change(client, fork, add=["Good fork"])
    assert {first.key, second.key} <= search(client, "kind:user london").keys()
    assert search(client, "kind:user tag:good london") == {first.key: [1], fork: [1]}
    assert search(client, 'tag:"good trip" kind:user') == {first.key: [1]}
    assert search(client, "tag:good is:starred") == {}
    client.patch(f"/api/sessions/{first.key}/notes/1", json={"starred": True})
    client.patch(f"/api/sessions/{second.key}/notes/1", json={"starred": True})
    assert search(client, "tag:good is:starred") == {first.key: [1]}
    assert search(client, "tag:good tokens>=0 kind:user -tag:fork") == {}
    assert search(client, "tag:good size>1 -kind:user -tag:*trip").keys() == {fork}
    assert search(client, "tag:good") == {first.key: [], fork: []}
    assert list_keys(client, app="travel", q="Book a tag:*trip flight") == {first.key}
    assert sessions["a"] in search(client, "-tag:good")
    wrong = client.get("/api/search?q=tag:good x:y").json()["detail"]
    assert wrong.startswith("`q`, column 10: Unknown field: x.")

    pages = {"Accept": "text/html"}
    page = client.get("/search?q=tag:good", headers=pages).text
    assert "Sessions by tag" in page
    assert "2 sessions" in page
    assert f'href="/sessions/{first.key}"' in page
    page = client.get("/search?q=tag:good kind:user", headers=pages).text
    assert "/search?q=tag%3A%22good+trip%22" in page
    assert f'href="/sessions/{second.key}"' not in page
    for text in ("GOOD", "tag:good"):
        palette = client.get("/palette", params={"q": text}).text
        assert ("tag · 1 session" in palette) == (text == "GOOD")
        assert (f'href="/sessions/{first.key}"' in palette) == (text == "tag:good")


def test_exports_carry_tags(client, sessions):
    key = sessions["a"]
    bundle = client.get(f"/api/sessions/{key}/export").content
    assert b'"tags"' not in bundle  # as older versions of devui write it
    tags = change(client, key, add=["Bug", "needs review"])
    tagged = client.get(f"/api/sessions/{key}/export").content
    page = client.get(f"/api/sessions/{key}/export?format=html").text
    assert all(f'<span class="tag" dir="auto">{tag}</span>' in page for tag in tags)

    def imported(data):
        answer = client.post("/api/sessions/import", content=data, headers=JSON)
        return answer.status_code, answer.json()

    _, old = imported(bundle)
    assert change(client, old["key"]) == []
    _, spelled = imported(json.dumps({**json.loads(tagged), "tags": ["BUG"]}).encode())
    assert change(client, spelled["key"]) == ["Bug"]  # as the app's other sessions have it
    _, copy = imported(tagged)
    assert change(client, copy["key"]) == tags
    assert client.get(f"/api/sessions/{copy['key']}/export").content == tagged
    whole = json.loads(tagged)
    for wrong, reason in (
        (["a,b"], "commas"),
        ([""], "empty"),
        ("bug", "list"),
        ([str(number) for number in range(21)], "20"),
    ):
        status, answer = imported(json.dumps({**whole, "tags": wrong}).encode())
        assert (status, "tags" in answer["detail"], reason in answer["detail"]) == (422, True, True)
    _, cut = imported(json.dumps({**whole, "tags": ["x" * 60, "Bug", "bug"]}).encode())
    assert change(client, cut["key"]) == ["Bug", "x" * 50]
