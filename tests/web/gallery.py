"""Renders every page from the samples and photographs it, to be looked at.

    python tests/web/gallery.py FOLDER [name…]

Each picture is taken light and dark at 1440, 1100 and 900 pixels, with the pages' own content
security policy; anything the browser complains about is printed.
"""

import functools
import http.server
import itertools
import shutil
import sys
import threading
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parent))

import samples
from samples import Stored, session_page

from devui.web import pages, parts
from devui.web.assets import Assets
from devui.web.headers import CONTENT_SECURITY_POLICY
from devui.web.render import Renderer

SIZES = {1440: 900, 1100: 800, 900: 800}


def long_session() -> list[Stored]:
    """Three hundred events, with everything that is too long."""
    kept: list[Stored] = []
    at = samples.NOW
    for turn in range(25):
        events = samples.FIRST + samples.SECOND[1:]
        block = samples.stored(events, invocation=f"e-{turn}", start=len(kept) + 1, at=at + 30)
        kept += block
        at = block[-1][0].timestamp
    return kept


def huge() -> list[Stored]:
    """A value of 10,000 characters, an author of 60, right-to-left text, markup, bidi controls."""
    events = [
        {
            "author": "user",
            "content": samples.text("احجز رحلة إلى لندن يوم الثلاثاء القادم", role="user"),
        },
        {
            "author": "AnAgentWhoseNameIsExactlySixtyCharactersLongAndThenSomeMore12",
            "branch": "root.left.deeper.deepest",
            "content": samples.call(
                "write_report", "adk-9", body="x" * 10_000, title="<b>&\"'</b>"
            ),
        },
        {
            "author": "TravelAgent",
            "content": samples.response(
                "write_report", "adk-9", {"error": "disk full", "n": list(range(120))}
            ),
        },
        {
            "author": "TravelAgent",
            "content": samples.text(
                "Deceptive \u202etxt.exe and <img src=x onerror=alert(1)> `code`\n\n```python\ndef f(x):\n    return x + 1\n```\n\n"
                + "word " * 300
            ),
        },
        {
            "author": "LLMAgent",
            "errorCode": "SAFETY",
            "errorMessage": "The answer was blocked. " * 12,
        },
    ]
    return samples.stored(events, invocation="e-huge")


def gallery() -> dict[str, parts.Notice | object]:
    """Every page by name."""
    travel = samples.travel()
    running = replace(samples.RUN, status="running", started=samples.NOW, ended=None)
    inspector, hint = samples.inspector, parts.Hint("No event yet", "Send a message to begin.")
    big, long = huge(), long_session()
    broken = parts.Notice(
        "bad", "travel cannot be loaded.", "agent.py:3 ModuleNotFoundError", "/apps/travel", "Show"
    )
    return {
        "apps": pages.AppsPage(
            "auto",
            "/home/me/agents",
            samples.CARDS,
            tuple(replace(s, show_app=True) for s in samples.SESSIONS),
        ),
        "apps-empty": pages.AppsPage("auto", "/home/me/agents", (), ()),
        "app": pages.AppPage(
            "auto",
            samples.CARDS[3],
            samples.README,
            parts.NewSession("/apps/travel/sessions"),
            samples.SESSIONS,
        ),
        "app-error": pages.AppPage(
            "auto",
            samples.CARDS[0],
            "",
            parts.NewSession(
                "/apps/faulty/sessions",
                "The app cannot be loaded",
                id=parts.Field("../x", "An id may hold letters, digits, - and _."),
                state=parts.Field(
                    "{oops", "Not JSON: expected a name in quotes at line 1, column 2."
                ),
                open=True,
            ),
            (),
        ),
        "session-empty": session_page(
            [], panel=inspector(samples.state_at(None), "state"), run=None
        ),
        "session-live": session_page(
            travel[:-1], panel=inspector(samples.state_at(None), "state"), run=running, live=True
        ),
        "session-waiting": session_page(travel[:6], panel=inspector(hint, "event"), run=running),
        "session-event": session_page(
            travel, panel=inspector(samples.event_panel(travel, 11), "event", 11), selected=11
        ),
        "session-text": session_page(
            travel, panel=inspector(samples.event_panel(travel, 5), "event", 5), selected=5
        ),
        "session-state": session_page(
            travel, panel=inspector(samples.state_at(11), "state", 11), selected=11
        ),
        "session-raw": session_page(
            travel, panel=inspector(samples.raw_panel(travel, 11), "raw", 11), selected=11
        ),
        "session-log": session_page(
            travel[:9],
            panel=inspector(samples.log_panel(), "log"),
            run=samples.FAILED,
            notices=(broken,),
        ),
        "session-huge": session_page(
            big, panel=inspector(samples.event_panel(big, 2), "event", 2), selected=2
        ),
        "session-long": session_page(
            long, panel=inspector(samples.state_at(None), "state"), first=100
        ),
    }


class Handler(http.server.SimpleHTTPRequestHandler):
    """Files with the headers of the real server."""

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        super().end_headers()

    def do_GET(self) -> None:
        if "/stream" not in self.path:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"event: bye\ndata:\n\n")
        return None

    def log_message(self, *args: object) -> None:
        """Stay quiet."""


def photograph(page: Page, address: str, name: str, folder: Path) -> None:
    """One page in all sizes and both themes."""
    for (width, height), scheme in itertools.product(SIZES.items(), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        query = f"?event={name_event(name)}" if name_event(name) else ""
        page.goto(f"{address}/{name}.html{query}")
        page.wait_for_timeout(150)
        page.screenshot(path=folder / f"{name}-{width}-{scheme}.png")


def name_event(name: str) -> int | None:
    """The event that a page of the gallery has selected."""
    numbers = {"event": 11, "state": 11, "raw": 11, "text": 5, "huge": 2}
    return numbers.get(name.removeprefix("session-"))


def main() -> None:
    folder = Path(sys.argv[1])
    wanted = sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    found = Assets.find()
    shutil.copytree(found.static, folder / "static", dirs_exist_ok=True)
    render = Renderer(Assets(found.templates, folder / "static"))
    models = {n: m for n, m in gallery().items() if not wanted or n in wanted}
    for name, model in models.items():
        (folder / f"{name}.html").write_text(str(render.part(model)))
    handler = functools.partial(Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.on("console", lambda m: m.type in ("error", "warning") and print(m.text[:300]))
        page.on("pageerror", lambda error: print("page error:", error))
        for name in models:
            photograph(page, f"http://127.0.0.1:{server.server_port}", name, folder)
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    main()
