"""axe-core reports no violations on any page: light and dark, wide and narrow."""

import os
import re
import shutil
from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Page

from devui.runtime.models.scripted_llm import SPEED_VARIABLE
from devui.web.panels.inspector.parts import TabKey
from tests.kit.browser import Visit
from tests.kit.server import SAMPLES, running

pytestmark = pytest.mark.browser

AXE = Path(os.environ.get("DEVUI_AXE") or "")
NOT_ASKED = ["scrollable-region-focusable"]
"""Disabled rules: browsers make scrollable regions focusable themselves (Chromium since 130,
Firefox always), and a tab stop for each block of code is a nuisance where nothing scrolls."""
RULES = dict.fromkeys(NOT_ASKED, False) | {"label-content-name-mismatch": True}
"""Whether a rule is enabled, where axe's default differs."""
RUN = """
([where, rules]) => axe.run(where, {
  resultTypes: ["violations"],
  preload: false,
  rules: Object.fromEntries(Object.entries(rules).map(([rule, enabled]) => [rule, { enabled }])),
})
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not AXE.is_file():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("DEVUI_AXE names no axe.min.js")
    folder = tmp_path_factory.mktemp("axe")
    agents = shutil.copytree(SAMPLES, folder / "agents")
    (agents / "broken").mkdir()
    (agents / "broken" / "agent.py").write_text("root_agent = missing\n")
    with running(agents, folder / "data", "--no-auth", **{SPEED_VARIABLE: "10"}) as server:
        yield server


LOOKS = {"dark": {"width": 390, "height": 900}, "light": {"width": 1440, "height": 900}}
"""The window size for each color scheme; all other steps happen in the last one."""


def complaints(page: Page, state: str, where: str = "html") -> list[str]:
    """Return the violations, in each look, in the part of a page that is new in this state."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text(encoding="utf-8"))
    wrong = []
    for scheme, size in LOOKS.items():
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(size)
        wrong += [
            f"{state}, {scheme}: {each['id']} ({each['impact']}) {node['html'][:200]}"
            f"\n  {node['failureSummary']}"
            for each in page.evaluate(RUN, [where, RULES])["violations"]
            for node in each["nodes"][:3]
        ]
    return wrong


def test_axe_finds_no_violations(browser, server):
    wrong: list[str] = []
    with Visit(browser, server, bypass_csp=True) as visit:
        visit.allow("/apps/broken|favicon")
        for path in ("/", "/apps/travel", "/apps/broken", "/docs"):
            wrong += complaints(visit.open(path), path)
        session = visit.session("travel")
        page = session.page
        wrong += complaints(page, "empty session")
        session.say("Book a flight to London next Tuesday")
        wrong += complaints(page, "session")
        page.keyboard.press("Control+K")
        page.get_by_role("combobox", name="Find a command").wait_for()
        wrong += complaints(page, "palette", "#palette")
        first, *_ = get_args(TabKey)
        for tab in get_args(TabKey):
            page.goto(f"{server.url}{session.path}?event=3&tab={tab}")
            # Page-level rules concern what the tabs share: the first tab covers them.
            wrong += complaints(page, f"tab {tab}", "html" if tab == first else "#inspector")
        add = session.panel.get_by_role("button", name="Add breakpoint")
        page.goto(f"{server.url}{session.path}?tab=breaks")
        add.click()
        session.panel.get_by_role("link", name="hits in this session").wait_for()
        wrong += complaints(page, "a breakpoint", "#inspector")
        page.goto(f"{server.url}{session.path}?event=3&view=trace")
        wrong += complaints(page, "trace", "#trace-view")
        key = session.path.rpartition("/")[2]
        for path in (
            "/search?q=london",
            f"/compare?left={key}&right={key}",
            f"/sessions/{key}/test",
            f"/sessions/{key}?at=2",
        ):
            wrong += complaints(visit.open(path), path)
        asking = visit.session("refunds")
        asking.page.get_by_role("button", name=re.compile("refund", re.IGNORECASE)).first.click()
        asking.ends("waiting|done")
        wrong += complaints(asking.page, "a question")
        failed = visit.session("faulty")
        failed.page.locator("#messages form button, .welcome button").first.click()
        failed.ends("failed|done")
        wrong += complaints(failed.page, "a failed run")
        other = failed.path.rpartition("/")[2]
        compared = visit.open(f"/compare?left={key}&right={other}")
        compared.locator(".compared-value").first.wait_for()
        wrong += complaints(compared, "two sessions compared")
        held = visit.session("travel")
        held.page.get_by_label("pause first").check()
        held.send("Book a flight to London next Tuesday")
        held.page.locator("#run .held").wait_for()
        wrong += complaints(held.page, "held")
    assert not wrong, "\n".join(wrong)
