"""Failures are marked alike everywhere, even in a session whose last run succeeded."""

import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tests.kit.debugged_run import DebuggedRun
from tests.kit.server import running, write_app

APP = """
import os

from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm


def look(city: str) -> dict:
    return {"error": "no such city"} if city == "Atlantis" else {"sky": "clear"}


def crash() -> str:
    raise ValueError("broken")


def die() -> None:
    os._exit(3)


rules = [
    Rule(after="look", then=Say("done")),
    Rule(user="die", then=Call("die")),
    Rule(user="crash", then=Call("crash")),
    Rule(user="Atlantis", then=Call("look", city="Atlantis")),
    Rule(then=Call("look", city="Oslo")),
]
root_agent = Agent(name="guide", model=ScriptedLlm(rules=rules), tools=[look, crash, die])
"""
ERROR_ICON = 'href="#i-error"'


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    folder = tmp_path_factory.mktemp("failures")
    write_app(folder / "agents", "guide", APP)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


def page(client: httpx2.Client, address: str) -> str:
    return client.get(address, headers={"Accept": "text/html"}).text


def errors(text: str, start: str, end: str) -> str:
    """The count of errors after the status, as shown."""
    status = text.partition(start)[2].partition(end)[0]
    return " ".join(re.sub("<[^>]*>", " ", status).split()).partition("done")[2].strip()


def everywhere(client: httpx2.Client, debugged: DebuggedRun) -> list[str]:
    item = f'id="s-{debugged.key}"'
    return [
        errors(page(client, f"/sessions/{debugged.key}"), 'class="run done"', "</div>"),
        errors(page(client, "/").partition(item)[2], 'class="status done">', "<time"),
        errors(page(client, "/apps/guide").partition(item)[2], 'class="status done">', "</td>"),
    ]


def events(client: httpx2.Client, debugged: DebuggedRun) -> list[dict[str, Any]]:
    return client.get(f"/api/sessions/{debugged.key}/events").json()["events"]


def rewind(debugged: DebuggedRun, number: int) -> None:
    address = f"/api/sessions/{debugged.key}/rewind"
    debugged.run = debugged.client.post(address, json={"number": number}).json()["run"]
    debugged.settled()


def undo(debugged: DebuggedRun) -> None:
    """Undo the rewind that is the last event."""
    rewind(debugged, events(debugged.client, debugged)[-1]["number"])


def test_the_bar_and_the_lists_count_errors_before_a_successful_run(client: httpx2.Client) -> None:
    debugged = DebuggedRun(client, "guide")
    said = []
    for message in ("Oslo", "Atlantis", "crash", "Oslo"):
        debugged.start(message, pause=False).settled()
        if message != "crash":
            said += everywhere(client, debugged)
    assert said == [*[""] * 3, *["· 1 error"] * 3, *["· 2 errors"] * 3]
    session = page(client, f"/sessions/{debugged.key}")
    [href] = re.findall(r'class="errors"> · <a href="([^"]+)"', session)
    shown = re.findall(r'id="e-(\d+)"', page(client, href))
    failures = [each["number"] for each in events(client, debugged) if each["kind"] == "error"]
    assert [int(each) for each in shown] == [7, *failures]


def test_rewound_errors_are_not_counted_unless_the_rewind_is_undone(client: httpx2.Client) -> None:
    debugged = DebuggedRun(client, "guide")
    for message in ("Atlantis", "crash", "die", "Oslo"):
        debugged.start(message, pause=False).settled()
    assert everywhere(client, debugged) == ["· 3 errors"] * 3
    numbers = {each["text"]: each["number"] for each in events(client, debugged)}
    rewind(debugged, numbers["die"])  # a killed process leaves no event
    assert everywhere(client, debugged) == ["· 2 errors"] * 3
    rewind(debugged, numbers["crash"])
    assert everywhere(client, debugged) == ["· 1 error"] * 3
    undo(debugged)
    assert everywhere(client, debugged) == ["· 2 errors"] * 3
    undo(debugged)
    assert everywhere(client, debugged) == ["· 1 error"] * 3
    rewind(debugged, numbers["Atlantis"])
    assert everywhere(client, debugged) == [""] * 3
    undo(debugged)
    assert everywhere(client, debugged) == ["· 1 error"] * 3


def test_a_tool_result_with_an_error_is_marked_as_an_error(client: httpx2.Client) -> None:
    debugged = DebuggedRun(client, "guide").start("Atlantis", pause=False)
    debugged.settled()
    text = page(client, f"/sessions/{debugged.key}?event=3")
    row = text.partition('id="e-3"')[2].partition('id="e-4"')[0]
    assert 'class="kind k-error"' in row
    assert ERROR_ICON in row.partition('class="kind')[2].partition("</span>")[0]
    trace = page(client, f"/sessions/{debugged.key}?view=trace")
    [span] = re.findall(r'<tr[^>]*class="t-tool[^"]*"', trace)
    assert "failed" in span
    assert "no such city" in trace.partition('class="span-error"')[2].partition("</tr>")[0]
    compared = page(client, f"/compare?left={debugged.key}&right={debugged.key}&unfold=yes")
    assert compared.count('class="kind k-error"') == 2
