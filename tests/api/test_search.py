"""Search over all sessions, in the language of the timeline's filter."""

import re

import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import make_session, running, write_app

SECRET = "sk-live-0123456789abcdef"
APP = """
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm


def look_up(word: str, tool_context) -> dict:
    tool_context.state["user:page"] = word
    return {"error": "no such page"} if word == "bad" else {"page": "x " * 300 + "a far needle"}


rules = [
    Rule(after="look_up", then=Say("Seen <b>it</b> with sk-live-0123456789abcdef")),
    Rule(user="bad", then=Call("look_up", word="bad")),
    Rule(then=Call("look_up", word="good")),
]
root_agent = Agent(name="reader", model=ScriptedLlm(rules=rules), tools=[look_up])
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    write_app(folder / "agents", "reader", APP)
    (folder / "agents" / "reader" / ".env").write_text(f"API_KEY={SECRET}\n")
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


@pytest.fixture(scope="module")
def sessions(client):
    sessions = []
    for message in ("a bad day in Zürich", "good morning"):
        session = DebuggedRun(client, "reader")
        session.start(message, pause=False).settled()
        sessions.append(session)
    client.patch(f"/api/sessions/{sessions[0].key}/notes/4", json={"starred": True})
    return sessions


def hits(client, text, **query):
    answer = client.get("/api/search", params={"q": text, **query})
    assert answer.status_code == 200, answer.text
    assert answer.json()["indexed"] == 100
    return {
        each["key"]: [hit["number"] for hit in each["hits"]] for each in answer.json()["sessions"]
    }


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("zürich", [1], None),
        ("need", None, [3]),  # the beginning of a word deep in a result
        ('"far needle"', None, [3]),
        ("tool:look_*", [3, 2], [3, 2]),
        ("tool:look", [3, 2], [3, 2]),
        ("tool:lo", [3, 2], [3, 2]),
        ('tool:"look"', None, None),
        ("author:rea kind:te", [4], [4]),
        ('author:"reader" kind:call', [2], [2]),
        ("is:star", [4], None),
        ("is:fail", [3], None),
        ("key:user:pa", [3], [3]),
        ("key:us", [3], [3]),
        ("tool:look_up -is:error", [2], [3, 2]),
        ("is:error", [3], None),
        ("key:user:page", [3], [3]),
        ("is:starred", [4], None),
        ("kind:user,call good", None, [2, 1]),
        ("tool:look_up (args.word == 'bad')", [2], None),
        ("author:reader -kind:result", [4, 2], [4, 2]),
        ("reader", [4, 3, 2], [4, 3, 2]),
        ("nothing-of-the-kind", None, None),
    ],
)
def test_a_search_finds_the_events_that_a_filter_selects(client, sessions, text, first, second):
    expected = {sessions[0].key: first, sessions[1].key: second}
    assert hits(client, text) == {key: value for key, value in expected.items() if value}


def test_the_page_highlights_the_match_and_links_to_the_event(client, sessions):
    page = client.get("/search", params={"q": "needle"}).text
    assert re.search(
        rf'href="/sessions/{sessions[1].key}\?event=3">.*a far <mark>needle</mark>', page
    )
    escaped = client.get("/search", params={"q": "seen"}).text
    assert "<mark>Seen</mark> &lt;b&gt;it" in escaped
    assert "Unknown field: nothing." in client.get("/search", params={"q": "nothing:x"}).text
    assert client.get("/api/search", params={"q": "nothing:x"}).status_code == 400


def test_a_match_in_a_short_value_is_shown_with_its_call(client, sessions):
    page = client.get("/search", params={"q": "good kind:call"}).text
    assert re.search(r"look_up\(word=&#34;<mark>good</mark>&#34;\)", page)


def test_the_page_shows_the_number_of_matches(client, sessions):
    page = client.get("/search", params={"q": "is:error"}).text
    assert "1 event in 1 session<" in page
    page = client.get("/search", params={"q": "author:user,reader"}).text
    assert re.search(r"\d+\+ events in \d+ sessions<", page)


@pytest.mark.parametrize(
    ("text", "has_hint"),
    [("eedle", True), ("eedle cost>9", True), ("cost>9", False), ("tag:none", False)],
)
def test_only_a_search_for_words_without_matches_explains_how_words_match(
    client, sessions, text, has_hint
):
    page = client.get("/search", params={"q": text}).text
    assert "No events match." in page
    assert ("Search text must match the beginning of a word." in page) is has_hint


@pytest.fixture
def forked(client):
    """A session and the key of its fork at #2; deletes both afterwards, for the other tests."""
    session = DebuggedRun(client, "reader")
    session.start("an unparalleled word", pause=False).settled()
    same = {"Origin": str(client.base_url).rstrip("/")}
    client.post(f"/sessions/{session.key}/title", data={"title": "Marked"}, headers=same)
    answer = client.post(f"/api/sessions/{session.key}/forks", json={"number": 2})
    fork = answer.raise_for_status().json()
    yield session, fork["key"]
    for name in (session.session, fork["id"]):
        client.delete(f"/apps/reader/users/u/sessions/{name}")


def test_an_event_copied_to_a_fork_is_found_once(client, forked):
    session, fork = forked
    assert hits(client, "unparalleled") == {session.key: [1]}
    palette = client.get("/palette", params={"q": "unparalleled", "session": fork}).text
    assert f'"/sessions/{fork}?event=1"' in palette
    client.delete(f"/apps/reader/users/u/sessions/{session.session}")
    assert hits(client, "unparalleled") == {fork: [1]}


def test_a_fork_is_marked_wherever_sessions_are_listed(client, forked):
    session, fork = forked
    for path in ("/search?q=marked", "/palette?q=marked", f"/sessions/{session.key}"):
        link = rf'href="/sessions/{fork}".{{,300}}fork at #2'
        assert re.search(link, client.get(path).text, re.DOTALL), path


def test_results_contain_no_secret(client, sessions):
    for text in ("seen", "sk-live", SECRET, SECRET[:12]):
        for path in ("/search", "/api/search"):
            answer = client.get(path, params={"q": text}).text
            assert SECRET[10:] not in answer


def test_the_palette_finds_sessions_events_keys_and_apps(client, sessions):
    key = sessions[1].key
    same = {"Origin": str(client.base_url).rstrip("/")}
    answer = client.post(f"/sessions/{key}/title", data={"title": "Morning reader"}, headers=same)
    assert answer.status_code < 400
    html = client.get("/palette", params={"q": "reader", "session": key}).text
    assert re.findall(r'role="group" aria-label="([^"]*)"', html) == [
        "Sessions", "Events", "Apps", "Search"
    ]  # fmt: skip
    assert f'href="/sessions/{key}"' in html
    assert f'href="/sessions/{key}?event=4"' in html
    assert (
        'aria-label="State keys"'
        in client.get("/palette", params={"q": "page", "session": key}).text
    )


def test_the_palette_shows_the_number_of_an_untitled_session_once(client):
    name = make_session(client, "reader", user="unnamed")["id"]
    query = {"app": "reader", "user": "unnamed", "id": name}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    page = client.get("/palette", params={"q": str(row["key"])}).text
    assert re.sub("<[^>]*>", " ", page).count(f"session {row['key']}") == 1


def test_a_deleted_session_is_not_found(client):
    session = DebuggedRun(client, "reader")
    session.start("an unrepeatable word", pause=False).settled()
    assert hits(client, "unrepeatable") == {session.key: [1]}
    answer = client.delete(f"/apps/reader/users/u/sessions/{session.session}")
    assert answer.status_code == 200
    assert hits(client, "unrepeatable") == {}
