"""An app that fails to load says why, and shows what it printed (R51)."""

import re
import threading
import time

import pytest

from tests.faults.seen import HTML, session_page
from tests.kit.patience import PATIENCE
from tests.kit.server import make_session, run

pytestmark = pytest.mark.req("R50")


@pytest.mark.req("R51")
@pytest.mark.parametrize(
    ("app", "words"),
    [
        ("syntax", ["SyntaxError", "syntax/agent.py:1"]),
        ("missing", ["a_module_that_is_not_there", "missing/agent.py:1"]),
        ("circular", ["partially initialized module", "circular/agent.py:1"]),
        ("asks", ["EOFError", "asks/agent.py:1"]),
        ("bare", ["exports neither `root_agent` nor `app`"]),
        ("foreign", ["is a builtins.object"]),
        ("raising", ["RuntimeError: no key", "raising/agent.py:2"]),
        ("exiting", ["SystemExit: bye", "exiting/agent.py:2"]),
    ],
)
def test_an_app_that_fails_to_load_is_listed_with_the_error_and_line(client, app, words):
    client.post(f"/apps/{app}/reload")
    for path in ("/", f"/apps/{app}"):
        page = client.get(path, headers={"Accept": "text/html"}).text
        for word in words:
            assert word in page.replace("&#39;", "'").replace("&#34;", '"'), path
    session = make_session(client, app)
    frames = run(client, app, session["id"], "go")
    assert "error" in frames[-1]


@pytest.mark.req("R51")
@pytest.mark.parametrize("app", ["announces", "laments"])
def test_output_of_an_apps_import_is_on_its_page(client, app):
    client.post(f"/apps/{app}/reload")
    page = client.get(f"/apps/{app}", headers=HTML).text
    output = page.split("Output while loading", 1)[1].split("</pre>", 1)[0]
    assert "reading &lt;b&gt;prices&lt;/b&gt;\n" in output
    assert "warning: prices: they are of last year\n" in output
    assert "no end" in output
    shows(client, app, "from a child")  # arrives separately from the rest


def shows(client, app: str, text: str) -> None:
    """Wait until the app's page shows the text."""
    until = time.monotonic() + PATIENCE
    while text not in client.get(f"/apps/{app}", headers=HTML).text:
        assert time.monotonic() < until, f"{text!r} is not shown"
        threading.Event().wait(0.1)


@pytest.mark.req("R51")
def test_late_output_of_a_child_of_the_import_is_on_the_page(client):
    client.post("/apps/murmurs/reload")
    shows(client, "murmurs", "spoken afterwards")


@pytest.mark.req("R51")
def test_the_notice_of_a_failed_load_has_the_last_output(client):
    client.post("/apps/laments/reload")
    session = make_session(client, "laments")
    page = session_page(client, session)
    assert "laments failed to load" in page
    assert re.search("Last output: (no end|from a child)", page)


def test_only_the_first_lines_of_endless_output_are_kept(client):
    client.post("/apps/prattles/reload")
    page = client.get("/apps/prattles", headers=HTML).text
    assert "line 199\n" in page
    assert "line 200\n" not in page
    assert "9,800 more lines not saved" in page
    run(client, "prattles", make_session(client, "prattles")["id"], "go")
