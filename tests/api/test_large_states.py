"""A state of ten thousand keys, or of large values: pages show parts of it and link to the rest."""

import html
import json
import platform
import re
import resource
import time
from pathlib import Path

import pytest

from tests.kit.server import make_session, running, write_app

pytestmark = pytest.mark.req("R48")

KEYS = 10_000
MAX_BYTES = 275_000
"""The maximum size in bytes of a page, however many keys the state has."""
AGENT = """
from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools.tool_context import ToolContext


def fill(tool_context: ToolContext) -> dict:
    for n in range(10_000):
        tool_context.state[f"new {n:05}"] = n
    return {"rows": [{"id": n} for n in range(500)], "odd \\"key\\"": {"a b": list(range(120))}}


rules = [Rule(after="fill", then=Say("Done.")), Rule(then=Call("fill"))]
root_agent = Agent(name="filler", tools=[fill], model=ScriptedLlm(rules=rules))
"""
LETTERS = "".join(chr(97 + n % 26) for n in range(200_000))
STATE = {
    **{f"key {n:05}": {"n": n, "text": "*text* " * 5} for n in range(KEYS)},
    **{f"user:likes {n:03}": n for n in range(150)},
    "list": list(range(1_000)),
    "deep": {"rows": [{"cells": list(range(130))}, 0]},
    "long": LETTERS,
    "<b>&\"'": {"<i>": list(range(60))},
}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    write_app(folder / "agents", "filler", AGENT)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


@pytest.fixture(scope="module")
def key(client):
    session = make_session(client, "filler", state=STATE)
    sessions = client.get("/api/sessions").json()["sessions"]
    return next(each["key"] for each in sessions if each["id"] == session["id"])


def page_of(client, path, *, htmx=False, limit=MAX_BYTES):
    headers = {"Accept": "text/html"}
    headers |= {"HX-Request": "true", "HX-Request-Type": "partial"} if htmx else {}
    answer = client.get(path, headers=headers)
    assert answer.status_code == 200, answer.text
    assert len(answer.content) < limit
    return answer.text


def links(page, pattern):
    urls = [html.unescape(each) for each in re.findall(r'href="([^"]*)"', page)]
    return [url for url in urls if re.search(pattern, url)]


def keys_in(page):
    return re.findall(r"(?:key|likes|new) \d{3,5}(?=</span></a>)", page)


def all_through(client, url, pattern, read, *, htmx):
    """What a series of pages shows, following each page's link to the next."""
    names = []
    while url:
        page = page_of(client, url, htmx=htmx)
        names += read(page)
        url = next(iter(links(page, pattern)), None)
    return names


def test_pages_of_a_state_with_many_keys_stay_small(client, key):
    for path in ("", "?tab=state", "/state"):
        page = page_of(client, f"/sessions/{key}{path}")
        assert len(set(keys_in(page))) <= 200
        assert links(page, r"/state/keys\?scope=session")
        assert links(page, r"/state/keys\?scope=user")


@pytest.mark.parametrize("htmx", [False, True])
def test_every_key_is_reachable_by_links(client, key, htmx):
    begin = f"/sessions/{key}/state/keys?scope=session&find=KEY+0"
    names = all_through(client, begin, r"/state/keys\?.*from=", keys_in, htmx=htmx)
    assert names == [f"key {n:05}" for n in range(KEYS)]
    begin = f"/sessions/{key}/state/keys?scope=user"
    names = all_through(client, begin, r"/state/keys\?.*from=", keys_in, htmx=htmx)
    assert names == [f"likes {n:03}" for n in range(150)]


def test_keys_are_found_by_a_part_of_their_name(client, key):
    page = page_of(client, f"/sessions/{key}/state/keys?find=Y+0123")
    assert keys_in(page) == [f"key 0123{n}" for n in range(10)]
    assert "10 keys" in page
    assert not links(page, "from=")
    assert "0 keys" in page_of(client, f"/sessions/{key}/state/keys?find=%25")
    assert client.get(f"/sessions/{key}/state/keys?scope=temp").status_code == 400
    assert client.get(f"/sessions/{key}/state/keys?at=9").status_code == 404


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("key=list", range(1_000)),
        ("key=deep&path=rows[0].cells", range(130)),
        ("key=%3Cb%3E%26%22'&path=[%22%3Ci%3E%22]", range(60)),
    ],
)
def test_every_item_of_a_long_list_is_reachable_by_links(client, key, query, values, htmx):
    def read(page):
        return [int(n) for n in re.findall(r'class="j-number"[^>]*>(\d+)<', page)]

    begin = f"/sessions/{key}/state/value?{query}"
    assert all_through(client, begin, "/state/value.*from=", read, htmx=htmx) == list(values)


def test_a_truncated_tree_links_to_the_rest(client, key):
    page = page_of(client, f"/sessions/{key}/state/value?key=deep")
    (more,) = links(page, "from=50")
    assert 'class="j-number" hx-ignore>50<' in page_of(client, more)


def test_a_long_text_is_read_in_pieces(client, key):
    def read(page):
        return re.findall(r"<pre[^>]*>([^<]*)</pre>", page)

    begin = f"/sessions/{key}/state/value?key=long"
    assert "".join(all_through(client, begin, "from=", read, htmx=True)) == LETTERS


def test_missing_keys_and_values_are_not_found(client, key):
    for query in ("key=none", "key=list&path=x", "key=list&path=[1000]"):
        assert client.get(f"/sessions/{key}/state/value?{query}").status_code == 404
    assert client.get(f"/sessions/{key}/state/value").status_code == 400
    assert client.get(f"/sessions/{key}/events/7/value").status_code == 404


def test_a_large_event_is_shown_in_part_and_reachable_by_links(client):
    session = make_session(client, "filler")
    body = {"appName": "filler", "userId": "u", "sessionId": session["id"]}
    message = {"role": "user", "parts": [{"text": "go"}]}
    events = client.post("/run", json={**body, "newMessage": message}).json()
    number = next(n for n, each in enumerate(events, 2) if each["actions"]["stateDelta"])
    sessions = client.get("/api/sessions").json()["sessions"]
    key = next(each["key"] for each in sessions if each["id"] == session["id"])
    event = f"/sessions/{key}/events/{number}"
    page = page_of(client, event, limit=3 * MAX_BYTES)  # includes the beginning of its JSON
    assert len(keys_in(page)) == 100
    assert "9,900 more keys" in page
    tab = page_of(client, f"/sessions/{key}?event={number}&tab=state")
    assert links(tab, rf"/state/keys\?.*at={number}")
    (more,) = links(page, "/value.*rows.*from=50")

    def read(page):
        return [int(n) for n in re.findall(r'class="j-number"[^>]*>(\d+)<', page)]

    assert all_through(client, more, "rows&from=", read, htmx=True) == list(range(50, 500))
    (odd,) = links(page, "odd.*from=50")
    assert read(page_of(client, odd, htmx=True)) == list(range(50, 100))
    response = json.loads(client.get(f"/api{event}").text)["event"]["content"]["parts"][0]
    assert len(response["functionResponse"]["response"]["rows"]) == 500


TOGETHER = 20_000_000
"""How much larger the server may be after large answers, in bytes."""
LARGE = {f"blob {n}": "y" * 900_000 for n in range(10)}


def memory_of(server):
    """The server's resident memory in bytes, a moment after its last answer."""
    time.sleep(2)
    return int(Path(f"/proc/{server.pid}/statm").read_text().split()[1]) * resource.getpagesize()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="others give memory back themselves")
def test_memory_of_large_answers_is_released(tmp_path):
    write_app(tmp_path / "agents", "filler", AGENT)
    with running(tmp_path / "agents", tmp_path / "data") as server, server.client() as client:
        small = make_session(client, "filler")
        large = make_session(client, "filler", state=LARGE)
        sessions = client.get("/api/sessions").json()["sessions"]
        keys = {each["id"]: each["key"] for each in sessions}

        def serve(key):
            for path in ("", "?tab=state", "/state"):
                page_of(client, f"/sessions/{key}{path}")
            return len(client.get(f"/api/sessions/{key}/export").content)

        serve(keys[small["id"]])
        before = memory_of(server)
        assert min(serve(keys[large["id"]]) for _ in range(10)) > 9_000_000
        assert memory_of(server) < before + TOGETHER
