"""The page's stream: pieces of the page with `id:`, without gaps or duplicates (R58, R62)."""

import re

import pytest

from tests.kit.frames import Frame, messages
from tests.kit.server import make_session, run

PROMPT = "Book a flight to London next Tuesday"


@pytest.fixture
def session(client):
    """The key of a session with one finished turn."""
    session = make_session(client, "travel")
    run(client, "travel", session["id"], PROMPT, streaming=True)
    app_page = client.get("/apps/travel", headers={"Accept": "text/html"}).text
    return int(re.search(r'href="/sessions/(\d+)"', app_page)[1])


def first(client, path: str, **headers: str) -> Frame:
    with client.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200
        return next(messages(answer.iter_lines()))


def place(offset: str) -> tuple[str, int]:
    """The journal and the seq of an offset."""
    journal, _, seq = offset.partition(".")
    return journal, int(seq)


def rows(html: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="e-(\d+)"', html)]


@pytest.mark.req("R62")
def test_a_stream_has_the_headers_of_an_event_stream(client, session):
    with client.stream("GET", f"/sessions/{session}/stream") as answer:
        headers = answer.headers
        assert headers["content-type"] == "text/event-stream; charset=utf-8"
        assert headers["cache-control"] == "no-store"
        assert headers["x-accel-buffering"] == "no"


@pytest.mark.req("R58")
def test_a_stream_from_the_beginning_has_every_row_once(client, session):
    frame = first(client, f"/sessions/{session}/stream?after=0")
    assert rows(frame.data) == list(range(1, 9))
    journal, seq = place(frame.id)
    assert re.fullmatch("[0-9a-f]{16}", journal)
    assert seq > 0


@pytest.mark.req("R58")
@pytest.mark.parametrize("by", ["query", "header"])
def test_a_stream_resumes_after_its_offset(client, session, by):
    page = client.get(f"/sessions/{session}?event=5", headers={"Accept": "text/html"}).text
    whole = first(client, f"/sessions/{session}/stream?after=0")
    assert rows(page) == rows(whole.data)
    journal, last = place(whole.id)
    seqs = range(last - 9, last)
    seen = set()
    for seq in seqs:
        path, headers = f"/sessions/{session}/stream", {}
        if by == "query":
            path += f"?after={journal}.{seq}"
        else:
            headers = {"Last-Event-ID": f"{journal}.{seq}"}
        seen.add(tuple(rows(first(client, path, **headers).data)))
    for tail in seen:
        assert list(tail) == rows(whole.data)[len(rows(whole.data)) - len(tail) :]
    assert len(seen) > 5


def test_the_page_has_the_address_of_the_stream_that_continues_it(client, session):
    page = client.get(f"/sessions/{session}", headers={"Accept": "text/html"}).text
    journal, after = place(re.search(rf'/sessions/{session}/stream\?after=([^"&]+)"', page)[1])
    frame = first(client, f"/sessions/{session}/stream?after={journal}.{after - 1}")
    assert place(frame.id) >= (journal, after)
    assert rows(frame.data) == []


@pytest.mark.parametrize("after", ["", "0"])
def test_a_stream_without_an_offset_starts_at_the_beginning(client, session, after):
    frame = first(client, f"/sessions/{session}/stream?after={after}")
    assert rows(frame.data) == list(range(1, 9))


@pytest.mark.req("R58")
@pytest.mark.parametrize("by", ["query", "header"])
@pytest.mark.parametrize(
    "offset",
    [
        pytest.param("0123456789abcdef.3", id="of another journal"),
        pytest.param("{journal}.99999999", id="of a moment that has not come"),
        pytest.param("{journal}.x", id="without a number"),
        pytest.param("{journal}." + "9" * 5000, id="with a number that nothing can have"),
        pytest.param("3", id="without a journal"),
        pytest.param("-1", id="negative"),
    ],
)
def test_an_invalid_offset_resets_the_page(client, session, by, offset):
    journal, last = place(first(client, f"/sessions/{session}/stream").id)
    offset = offset.replace("{journal}", journal)
    valid = f"{journal}.{last}"
    query, header = (offset, valid) if by == "query" else (valid, offset)
    path = f"/sessions/{session}/stream?after={query}"
    assert first(client, path, **{"Last-Event-ID": header}).event == "reset"


@pytest.mark.req("R58")
def test_an_offset_of_another_journal_resets_a_page_of_a_missing_session(client):
    path = "/sessions/999999/stream?after=0123456789abcdef.3"
    assert first(client, path).event == "reset"


def test_the_stream_of_a_missing_session_is_not_found(client):
    assert client.get("/sessions/999999/stream").status_code == 404


def test_an_invocation_that_started_above_the_page_keeps_one_header(client):
    content = {"role": "model", "parts": [{"text": "and on"}]}
    events = [
        {"id": str(number), "author": "A", "invocationId": "long", "content": content}
        for number in range(200)
    ]
    make_session(client, "travel", sessionId="one-long-invocation", events=events)
    app_page = client.get("/apps/travel", headers={"Accept": "text/html"}).text
    session = int(re.search(r'href="/sessions/(\d+)"', app_page)[1])
    page = client.get(f"/sessions/{session}", headers={"Accept": "text/html"}).text
    journal, after = place(re.search(r'/stream\?after=([^"&]+)"', page)[1])
    pushed = first(client, f"/sessions/{session}/stream?after={journal}.{after - 5}").data
    assert rows(pushed) == [196, 197, 198, 199, 200]
    for html in (page, pushed):
        [header] = re.findall(r'<div class="inv".*?</div>', html, re.DOTALL)
        assert "data-continued" in header
        assert ">continued<" in header
        assert "200 events" in header
