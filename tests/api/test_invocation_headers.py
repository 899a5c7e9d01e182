"""The header of an invocation says what all of it came to, whatever of it a page shows."""

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
"""How many events each invocation has: some more than a page's window."""
COUNT = sum(LENGTHS)
PRICED = "gemini-2.5-flash"
"""30 cents and 2.50 dollars a million tokens."""
WINDOWS = (*range(1, COUNT, 23), 93, 98, 99, 348, 349, COUNT)


def history() -> list[dict]:
    """Invocations that begin with what the user says, but for the third."""
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
    """By what is said, what the header of each invocation has to say of these events."""
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
    """By what is said, what the headers of a page or of a part of one say."""
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


def test_the_file_that_shows_all_has_one_header_for_each_invocation(client, session):
    page = client.get(f"/api{session}/export?format=html").text
    assert headers_in(page) == WHOLE
    assert page.count('class="inv"') == len(LENGTHS)


@pytest.mark.parametrize("only", ["", "answer", "is:error", "tokens>3000"])
def test_every_window_has_the_numbers_of_the_page_that_shows_all(read, only):
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
def test_as_of_an_event_a_header_tells_of_what_had_happened_by_then(read, number, only):
    then = headers_of(history()[:number]).items()
    assert headers_in(read(f"?at={number}&filter={only}")).items() <= then
    gap = read(f"/rows?first=1&last={COUNT}&skip={number - 5}&limit=9&at={number}&filter={only}")
    assert headers_in(gap).items() <= then


@pytest.mark.parametrize("behind", [1, 4, 5, 6, SIZE - 1, SIZE, SIZE + 1, 105, 106, 300])
@pytest.mark.parametrize("only", ["", "answer"])
def test_what_arrives_brings_the_header_of_the_whole_invocation(
    client, session, read, behind, only
):
    journal, seq = re.search(r"/stream\?after=(\w+)\.(\d+)", read()).groups()
    address = f"{session}/stream?after={journal}.{int(seq) - behind}&filter={only}"
    with client.stream("GET", address) as answer:
        frame = next(messages(answer.iter_lines()))
    headers = headers_in(frame.data)
    assert "question 7" in headers
    assert headers.items() <= WHOLE.items()


def test_a_gap_says_what_its_events_come_to(read):
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
