"""Helpers that read what a misbehaving agent's run returned, showed and stored."""

import html
import re

from tests.kit.server import get_session, make_session, run

HTMX = {"HX-Request": "true"}
HTML = {"Accept": "text/html"}
GOING = re.compile('class="run (running|held|stopping) ?"')


def ends(client, app: str) -> tuple[dict, dict]:
    """Run the app; return the last frame, and the session afterwards."""
    session = make_session(client, app)
    frames = run(client, app, session["id"], "go")
    session_after = get_session(client, app, session["id"])
    assert session_after["state"]["begun"] is True, "what was committed before is kept"
    return frames[-1], session_after


def shown(client, session: dict, *words: str) -> None:
    """Check that the rows of the session's page contain these texts."""
    page = html.unescape(session_page(client, session))
    rows = page.split('id="rows"', 1)[1].split('id="live-rows"', 1)[0]
    text = re.sub(r"\s+", " ", re.sub("<[^>]*>", "", rows))
    assert [each for each in words if each not in text] == [], text[-2000:]


def still_serves(client) -> None:
    session = make_session(client, "fine")
    frames = run(client, "fine", session["id"], "go")
    assert [f["content"]["parts"][0]["text"] for f in frames] == ["begun", "after"]


def run_of(client, session: dict) -> str:
    """The id of the run under way, from the page's own Stop form."""
    page = session_page(client, session)
    return page.split('action="/runs/', 1)[1].split("/stop", 1)[0]


def key_of(client, session: dict) -> str:
    return session_page(client, session).split('data-session="', 1)[1].split('"', 1)[0]


def log_of(client, session: dict) -> str:
    """All output of the session's only run."""
    event = client.get(f"/sessions/{key_of(client, session)}/events/1", headers=HTML).text
    run_id = re.search(r"<code[^>]*>([0-9a-f]{32})</code>|>([0-9a-f]{32})<", event)
    return client.get(f"/runs/{run_id[1] or run_id[2]}/log").text


def session_page(client, session: dict) -> str:
    query = {"app": session["appName"], "user": session["userId"], "id": session["id"]}
    [row] = client.get("/api/sessions", params=query).json()["sessions"]
    return client.get(f"/sessions/{row['key']}", headers=HTML).text


def get_state(server, session: dict) -> dict:
    with server.client() as client:
        return get_session(client, session["appName"], session["id"])["state"]
