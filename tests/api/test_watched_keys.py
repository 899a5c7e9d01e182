"""Watched keys of an app stay visible, with their values as of the shown event."""

import json
import re

import pytest

from tests.kit.frames import messages
from tests.kit.server import SAMPLES, make_session, running

HTMX = {"HX-Request": "true", "HX-Request-Type": "partial", "HX-Target": "section#inspector"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with running(SAMPLES, tmp_path_factory.mktemp("watched") / "data") as server:
        yield server


def count_session(client, app="travel") -> int:
    """The key of a session whose two events set a state key."""
    session = make_session(client, app, state={"n": 1})["id"]
    query = {"app": app, "user": "u", "id": session}
    key = int(client.get("/api/sessions", params=query).json()["sessions"][0]["key"])
    path = f"/apps/{app}/users/u/sessions/{session}"
    for value in (2, 3):
        assert client.patch(path, json={"stateDelta": {"n": value}}).status_code == 200
    return key


def strip(page: str) -> list[tuple[str, str, str]]:
    """Name, value and mark of each watched key."""
    section = re.search(r'<section class="watched".*?</section>', page, re.DOTALL)[0]
    item = r'<li class="(\w+)">.*?<span[^>]*>(.*?)</span>.*?<code[^>]*>(.*?)</code>'
    items = re.findall(item, section, re.DOTALL)
    return [(key, value, mark) for mark, key, value in items]


def test_watched_keys_show_their_values_as_of_the_event(server):
    with server.client() as client:
        headers = {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
        key, page = count_session(client), {"Accept": "text/html"}
        watch = f"/sessions/{key}/watched"
        for name in ("n", "user:city"):
            answer = client.post(watch, data={"key": name}, headers=headers)
            assert answer.status_code == 303
        assert strip(client.get(f"/sessions/{key}", headers=page).text) == [
            ("n", "3", "changed"),
            ("user:city", "not set", "same"),
        ]
        html = client.get(f"/sessions/{key}?event=1", headers={**HTMX, **headers}).text
        assert ("n", "2", "changed") in strip(html)
        assert 'title="was 1"' in html
        other = count_session(client)
        assert ("n", "3", "changed") in strip(client.get(f"/sessions/{other}", headers=page).text)
        client.post(watch, data={"key": "n", "do": "remove"}, headers=headers)
        assert strip(client.get(f"/sessions/{key}", headers=page).text) == [
            ("user:city", "not set", "same")
        ]


def test_temporary_or_too_many_watched_keys_are_refused(server):
    with server.client() as client:
        headers = {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
        watch = f"/sessions/{count_session(client, 'faulty')}/watched"
        assert client.post(watch, data={"key": "temp:x"}, headers=headers).status_code == 400
        answers = [
            client.post(watch, data={"key": json.dumps(number)}, headers=headers).status_code
            for number in range(21)
        ]
        assert answers.count(303) <= 20
        assert answers[-1] == 400


def test_other_pages_of_the_app_update_watched_keys_at_once(server):
    with server.client() as client:
        headers = {"Origin": server.url, "Sec-Fetch-Site": "same-origin"}
        key, other = count_session(client), count_session(client)
        with client.stream("GET", f"/sessions/{other}/stream?after=0") as answer:
            stream = messages(answer.iter_lines())
            next(stream)
            client.post(f"/sessions/{key}/watched", data={"key": "n"}, headers=headers)
            assert any("watched-now" in each.data and ">n<" in each.data for each in stream)
