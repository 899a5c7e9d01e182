"""An invocation's header sums up all of it, whichever of its events a page shows."""

import html
import json
import re
from itertools import groupby, pairwise

import pytest

from devui.web.panels.timeline.window import SIZE
from devui.web.text.formats import compact, money, plural, seconds
from tests.kit.frames import messages
from tests.kit.server import make_session

LENGTHS = (3, 90, 1, 4, 250, 2, 100, 5)
"""The number of events of each invocation; some exceed a page's window."""
COUNT = sum(LENGTHS)
PRICED = "gemini-2.5-flash"
"""A model at $0.30 per million input tokens and $2.50 per million output tokens."""
WINDOWS = (*range(1, COUNT, 23), 93, 98, 99, 348, 349, COUNT)


def history() -> list[dict]:
    """Invocations that start with a user's message, except the third."""
    events: list[dict] = []
    for place, length in enumerate(LENGTHS):
        for step in range(length):
            number, is_user = len(events) + 1, step == 0 and place != 2
            text = f"question {place}" if is_user else f"answer {number}"
            event = {
                "id": f"e{number}",
                "invocationId": f"i{place}",
                "author": "user" if is_user else "A",
                "timestamp": 1_700_000_000 + number + (number % 7) / 8,
                "content": {"role": "user" if is_user else "model", "parts": [{"text": text}]},
            }
            if not is_user and number % 3 == 0:
                counts = (number * 10, number)
                event["modelVersion"] = "of-my-own" if number % 33 == 0 else PRICED
                event["usageMetadata"] = {
                    "promptTokenCount": counts[0],
                    "candidatesTokenCount": counts[1],
                    "totalTokenCount": sum(counts),
                }
            if not is_user and number % 50 == 0:
                event["errorCode"] = "OVERLOADED"
            if not is_user and number % 41 == 0:
                result = {"name": "look", "id": str(number), "response": {"error": "no answer"}}
                event["content"]["parts"] = [{"functionResponse": result}]
            events.append(event)
    return events


def has_failed(event: dict) -> bool:
    return "errorCode" in event or "functionResponse" in event["content"]["parts"][0]


def headers_of(events: list[dict]) -> dict[str, str]:
    """The expected header of each invocation of these events, by the user's message."""
    headers = {}
    for place, each in groupby(events, key=lambda event: event["invocationId"]):
        group = [*each]
        with_usage = [event for event in group if "usageMetadata" in event]
        priced = [event["usageMetadata"] for event in with_usage if event["modelVersion"] == PRICED]
        spent = [
            (0.3 * each["promptTokenCount"] + 2.5 * each["candidatesTokenCount"]) / 1e6
            for each in priced
        ]
        worked = sum(
            after["timestamp"] - before["timestamp"]
            for before, after in pairwise(group)
            if after["author"] != "user"
        )
        tokens = sum(event["usageMetadata"]["totalTokenCount"] for event in with_usage)
        failures = sum(has_failed(event) for event in group)
        parts = [plural(len(group), "event"), f"{seconds(worked)} s"]
        parts += [f"{compact(tokens)} tok"] if with_usage else []
        parts += [money(sum(spent), more=len(priced) < len(with_usage))] if priced else []
        parts += [f"{failures} failed"] if failures else []
        message = f"question {place[1:]}" if group[0]["author"] == "user" else "no message"
        headers[message] = " · ".join(parts)
    return headers


def headers_in(page: str) -> dict[str, str]:
    """The headers in a page or a part of one, by the user's message."""
    headers = re.findall(
        r'<div class="inv".*?<b(?: hx-ignore)?>(.*?)</b>'
        r'.*?<span class="meta"[^>]*>(.*?)</span>\n</div>',
        page,
        re.DOTALL,
    )
    assert len(headers) == page.count('class="inv"')
    return {message: html.unescape(re.sub("<.*?>", "", figures)) for message, figures in headers}


WHOLE = headers_of(history())


@pytest.fixture(scope="module")
def session(server):
    with server.client() as client:
        make_session(client, "travel", sessionId="long-invocations", events=history())
        query = {"app": "travel", "id": "long-invocations"}
        [row] = client.get("/api/sessions", params=query).json()["sessions"]
    return f"/sessions/{row['key']}"


@pytest.fixture
def read(client, session):
    def page(query: str = "") -> str:
        return client.get(session + query, headers={"Accept": "text/html"}).text

    return page


def test_the_html_export_has_one_header_per_invocation(client, session):
    page = client.get(f"/api{session}/export?format=html").text
    assert headers_in(page) == WHOLE
    assert page.count('class="inv"') == len(LENGTHS)


@pytest.mark.parametrize("only", ["", "answer", "is:error", "tokens>3000"])
def test_every_window_shows_the_figures_of_whole_invocations(read, only):
    seen = headers_in(read(f"?filter={only}"))
    for number in WINDOWS:
        window = headers_in(read(f"?event={number}&filter={only}"))
        gap = headers_in(read(f"/rows?first=1&last={COUNT}&skip={number}&limit=30&filter={only}"))
        assert window
        seen |= window
        assert window.items() | gap.items() <= WHOLE.items()
    assert only or seen == WHOLE


@pytest.mark.parametrize("number", [1, 2, 60, 98, 99, 250, 348, 450, COUNT])
@pytest.mark.parametrize("only", ["", "answer"])
def test_a_header_as_of_an_event_sums_up_what_happened_before_it(read, number, only):
    then = headers_of(history()[:number]).items()
    assert headers_in(read(f"?at={number}&filter={only}")).items() <= then
    gap = read(f"/rows?first=1&last={COUNT}&skip={number - 5}&limit=9&at={number}&filter={only}")
    assert headers_in(gap).items() <= then


@pytest.mark.parametrize("behind", [1, 4, 5, 6, SIZE - 1, SIZE, SIZE + 1, 105, 106, 300])
@pytest.mark.parametrize("only", ["", "answer"])
def test_streamed_events_bring_the_header_of_the_whole_invocation(
    client, session, read, behind, only
):
    journal, seq = re.search(r"/stream\?after=(\w+)\.(\d+)", read()).groups()
    address = f"{session}/stream?after={journal}.{int(seq) - behind}&filter={only}"
    with client.stream("GET", address) as answer:
        frame = next(messages(answer.iter_lines()))
    headers = headers_in(frame.data)
    assert "question 7" in headers
    assert headers.items() <= WHOLE.items()


def test_a_gap_has_the_totals_of_its_events(read):
    events = history()
    page = read(f"/rows?first=1&last={COUNT}&skip=200&limit=10")
    gaps = [
        {"first": int(first), "last": int(last), **json.loads(html.unescape(totals))}
        for first, last, totals in re.findall(
            r'data-first="(\d+)" data-last="(\d+)"[^>]* data-totals="([^"]+)"', page
        )
    ]
    assert [(gap["first"], gap["last"]) for gap in gaps] == [(1, 200), (211, COUNT)]
    for gap in gaps:
        inside = events[gap["first"] - 1 : gap["last"]]
        tokens = [e["usageMetadata"]["totalTokenCount"] for e in inside if "usageMetadata" in e]
        worked = sum(
            after["timestamp"] - before["timestamp"]
            for before, after in pairwise(events[max(gap["first"] - 2, 0) : gap["last"]])
            if after["author"] != "user"
        )
        assert gap["events"] == len(inside)
        assert gap["tokens"] == sum(tokens)
        assert gap["seconds"] == pytest.approx(worked)
        assert gap["failures"] == sum(has_failed(event) for event in inside)
        assert gap["isUnpriced"]
