"""What the page says about the app and the run, beyond their rows."""

from devui.debugger.live import LiveRun
from devui.debugger.workers import AppStatus
from devui.web.links import app_url
from devui.web.lists import app_failure, printed_text
from devui.web.parts import Notice
from devui.web.visible import visible

_SAID = 200
"""Characters of a line that was printed."""


def notices(name: str, app: AppStatus | None, live: LiveRun | None) -> tuple[Notice, ...]:
    """Everything that is worth a sentence now, the worst first."""
    told = (_missing(name, app), _broken(app), _stuck(live))
    return tuple(notice for notice in told if notice is not None)


def _missing(name: str, app: AppStatus | None) -> Notice | None:
    if app is not None:
        return None
    text = "Its sessions can be read, not continued."
    return Notice("warn", f"There is no app {visible(name)} in the folder now.", text)


def _broken(app: AppStatus | None) -> Notice | None:
    failure = app_failure(app) if app else None
    if app is None or failure is None:
        return None
    going_on = " The version before goes on being used." if app.status == "ready" else ""
    last = printed_text(app.printed).strip().rpartition("\n")[2]
    said = f" The last it printed: {visible(last[:_SAID])}" if last else ""
    return Notice(
        tone="bad",
        title=f"{app.name} does not load.",
        text=f"{failure.message} {failure.place}{going_on}{said}".strip(),
        href=app_url(app.name),
        label="See the traceback",
    )


def _stuck(live: LiveRun | None) -> Notice | None:
    if live is None or not live.stack:
        return None
    return Notice(
        tone="warn",
        title="The agent's event loop does not turn.",
        text="Something in its async code blocks: " + visible(_innermost(live.stack)),
    )


def _innermost(stack: str) -> str:
    """The last place of a formatted stack, in one line."""
    lines = [line.strip() for line in stack.strip().splitlines()]
    places = [i for i, line in enumerate(lines) if line.startswith("File ")]
    return " ".join(lines[places[-1] :]) if places else stack.strip()[-200:]
