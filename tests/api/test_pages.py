"""Session pages with runs and events that are larger than a page (tests/web/test_parts.py)."""

import base64
import html
import re

import pytest

from devui.web.panels.timeline.window import SIZE
from tests.kit.frames import messages
from tests.kit.server import make_session, run, running, write_app

PRINTS = """
from devui.runtime.agents import LlmAgent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm

def count(lines: int) -> str:
    for number in range(1, lines + 1):
        print(f"line {number}.")
    return "counted"

root_agent = LlmAgent(
    name="prints",
    tools=[count],
    model=ScriptedLlm(rules=[
        Rule(user="count", then=Call("count", lines=1500)),
        Rule(after="count", then=Say("done")),
    ]),
)
"""
HTML = {"Accept": "text/html"}
PARTIAL = {"HX-Request-Type": "partial"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    write_app(folder / "agents", "prints", PRINTS)
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def page(client):
    """Creates a session; returns the address of its page and its id."""
    return lambda app, **body: _session(client, app, **body)


def _session(client, app: str, **body) -> tuple[str, str]:
    session = make_session(client, app, **body)
    app_page = client.get(f"/apps/{app}", headers=HTML).text
    return re.search(r'href="(/sessions/\d+)"', app_page)[1], session["id"]


def test_a_long_log_shows_its_last_lines(client, page):
    address, session = page("prints")
    run(client, "prints", session, "count")
    html = client.get(f"{address}?tab=log", headers=HTML).text
    lines = [int(number) for number in re.findall(r"line (\d+)\.", html)]
    assert lines == list(range(501, 1501))
    assert "500 earlier lines not shown" in html
    whole = client.get(re.search(r'href="(/runs/[^"]+/log)"', html)[1]).text
    assert re.findall(r"line (\d+)\.", whole) == [str(number) for number in range(1, 1501)]


HUGE = "9" * 5000
ADDRESSES = [
    ("/sessions/{}", 404),
    ("/sessions/{}/stream", 404),
    ("{page}?event={}", 404),
    ("{page}/events/{}", 404),
    ("{page}/events/{}/again", 404),
    ("{page}/rows?first=1&last=9&skip=0&limit={}", 400),
    ("{page}/state?at={}", 404),
    ("{page}/artifacts/a?version={}", 400),
    ("/apps/prints?page={}", 400),
]


@pytest.mark.req("R26")
@pytest.mark.parametrize("number", [HUGE, "9" * 19, "-1", "x", "\u0663", "1e3", "%00"], ids=len)
@pytest.mark.parametrize(("address", "status"), ADDRESSES)
def test_an_impossible_number_is_refused(client, page, address, status, number):
    path, _ = page("prints")
    answer = client.get(address.replace("{page}", path).replace("{}", number), headers=HTML)
    assert (answer.status_code, "Unexpected error" in answer.text) == (status, False)


def test_only_user_messages_have_a_menu(client, page):
    content = {"role": "user", "parts": [{"text": "to be said again"}]}
    events = [{"author": "user", "content": content}, {"author": "A", "content": content}]
    path, _ = page("prints", events=events)
    whole = client.get(f"{path}/events/1/again", headers=HTML)
    assert whole.status_code == 200
    piece = client.get(f"{path}/events/1/again", headers={**HTML, "HX-Request": "true"})
    assert "to be said again</textarea>" in piece.text
    assert len(piece.text) < 3000 < len(whole.text)
    assert client.get(f"{path}/events/2/again", headers=HTML).status_code == 404
    assert f'"{path}/events/1/again"' in client.get(path, headers=HTML).text
    assert f'"{path}/events/2/again"' not in client.get(path, headers=HTML).text


def test_a_very_large_event_looks_the_same_on_the_page_and_on_its_stream(client, page):
    content = {"role": "model", "parts": [{"text": "**word** " * 40_000}]}
    small = {"role": "model", "parts": [{"text": "*a* `b`"}]}
    events = [{"author": "A", "content": content}, {"author": "A", "content": small}]
    path, _ = page("prints", events=events)
    whole_page = client.get(path, headers=HTML).text
    with client.stream("GET", f"{path}/stream?after=0") as answer:
        streamed = next(messages(answer.iter_lines())).data
    for text in (whole_page, streamed):
        assert "bytes: open the event to see it in full" in text
        assert len(text) < 50_000
    assert _messages(whole_page) == _messages(streamed)
    assert len(_messages(whole_page)) == 2
    assert streamed.count('hx-target="#totals"') == 1


def test_large_files_are_shown_on_the_page_and_on_its_stream(client, page):
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(400_000)).decode()
    table = base64.b64encode(b"city,flights\nRome,3\n" * 20_000).decode()
    parts = [
        {"text": "Look:"},
        {"inlineData": {"mimeType": "image/png", "data": data, "displayName": "map.png"}},
        {"inlineData": {"displayName": "flights.csv", "data": table, "mimeType": "text/csv"}},
    ]
    path, _ = page("prints", events=[{"author": "user", "content": {"parts": parts}}])
    whole_page = client.get(path, headers=HTML).text
    with client.stream("GET", f"{path}/stream?after=0") as answer:
        streamed = next(messages(answer.iter_lines())).data
    [message] = _messages(whole_page)
    assert [message] == _messages(streamed)
    [picture] = re.findall(r'<img[^>]* src="([^"]*)"', message)
    assert len(client.get(html.unescape(picture)).content) == 400_008
    assert "390.6 kB" in message or "400 kB" in message
    assert "<td>Rome</td>" in message
    detail = client.get(f"{path}?event=1", headers=HTML).text
    assert "Long text is shortened" not in detail
    assert len(whole_page) < 60_000


def test_what_has_no_kind_of_its_own_is_named_and_folded(client, page):
    call = {"toolType": "URL_CONTEXT", "args": {"urls": ["https://a.example"]}}
    events = [
        {"author": "A", "content": {"parts": [{"text": "Look:"}, {"toolCall": call}]}},
        {"author": "A", "content": {"parts": [{"toolResponse": {"response": {"ok": True}}}]}},
        {"author": "A", "voiceActivity": {"voiceActivityType": "ACTIVITY_START"}},
    ]
    path, _ = page("prints", events=events)
    text = client.get(path, headers=HTML).text
    assert "no content" not in text
    folds = re.compile(r'<details class="preview other">.*?<b hx-ignore>(.*?)</b>')
    assert [folds.findall(each) for each in _messages(text)] == [
        ["Tool call"],
        ["Tool response"],
        ["Voice activity"],
    ]
    for number, name in (1, "Tool call"), (2, "Tool response"), (3, "Voice activity"):
        inspector = client.get(f"{path}?event={number}", headers=HTML).text
        assert folds.findall(inspector.split('id="inspector"')[1]) == [name]


def test_large_calls_and_results_are_shown_as_chips(client, page):
    args, response = {"what": "to look for " * 40_000}, {"found": "something " * 40_000}
    call = {"functionCall": {"id": "c", "name": "look", "args": args}}
    result = {"functionResponse": {"id": "c", "name": "look", "response": response}}
    path, _ = page(
        "prints", events=[{"author": "A", "content": {"parts": [p]}} for p in (call, result)]
    )
    text = client.get(path, headers=HTML).text
    [message] = _messages(text)
    for words in ("look", "to look for", "something", "bytes: open the event to see it in full"):
        assert words in message
    assert len(text) < 50_000


def test_a_call_shows_its_result_from_the_next_window(client, page):
    call = {"functionCall": {"id": "c", "name": "look", "args": {}}}
    result = {"functionResponse": {"id": "c", "name": "look", "response": {"found": "it"}}}
    parts = [call, result, *({"text": f"text {n}"} for n in range(SIZE - 1))]
    path, _ = page("prints", events=[{"author": "A", "content": {"parts": [p]}} for p in parts])
    text = client.get(path, headers=HTML).text
    gap = {"first": 1, "last": 1, "skip": 0, "limit": 40}
    rows = client.get(f"{path}/rows", params=gap, headers=HTML | PARTIAL).text
    older = client.get(f"{path}/messages", params=gap, headers=HTML | PARTIAL).text
    assert '"e-2"' in text
    assert '"e-1"' in rows
    [slot] = re.findall(r'<div class="slot".*?</div>', older, re.DOTALL)
    assert "found" in slot


def _messages(html: str) -> list[str]:
    return re.findall(r'<article[^>]* id="m-\d+".*?</article>', html, re.DOTALL)
