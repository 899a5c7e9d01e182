"""Runs as the pages show them: in the top bar, in the timeline, in the chat."""

import json
from dataclasses import asdict
from typing import Any, Final

from devui.store.rows import OutputLine, RunRow
from devui.web.links import runs_url, session_url, stop_url
from devui.web.parts import (
    Failure,
    LogLine,
    RunEnd,
    RunNote,
    RunStatus,
    SpokenPart,
    Status,
    Unfinished,
)
from devui.web.presenters.content import clipped, spoken
from devui.web.text import formats
from devui.web.text.moments import moment
from devui.web.text.visible import readable, visible
from devui.wire.messages import AgentError

WORDS: Final[dict[Status, str]] = {
    "idle": "not run yet",
    "running": "running",
    "held": "paused",
    "stopping": "stopping",
    "done": "done",
    "failed": "failed",
    "stopped": "stopped",
    "interrupted": "interrupted",
}

ENDINGS: Final[dict[Status, str]] = {
    "failed": "The run failed",
    "stopped": "The run was stopped",
    "interrupted": "The run was interrupted: the server went away while it was running",
}
"""What is said about a run that did not simply finish."""


def run_status(run: RunRow | None, *, held: bool = False, quiet: float | None = None) -> RunStatus:
    """The status of the session's newest run, None if there was none; `held` by the debugger.

    `quiet`: since when nothing has come of it, if that is worth saying (seconds since the epoch).
    """
    if run is None:
        return RunStatus("idle", WORDS["idle"])
    active = run.status == "running"
    status: Status = "held" if held and active else run.status
    return RunStatus(
        status=status,
        word=WORDS[status],
        stop_href=stop_url(run.id) if active else None,
        started=moment(run.started) if active else None,
        why_href="" if run.ended else session_url(run.session, tab="run"),
        quiet=moment(quiet) if quiet and active else None,
    )


def run_end(run: RunRow) -> RunEnd | None:
    """The row that tells how a run ended; None while it goes on and when it simply finished."""
    if run.status not in ENDINGS:
        return None
    return RunEnd(
        run=run.id,
        status=run.status,
        text=ENDINGS[run.status],
        moment=moment(run.ended or run.started),
        failure=run_failure(run.error),
    )


def run_note(run: RunRow, *, told: bool) -> RunNote | None:
    """The same for the chat; `told`: the message before is the error itself."""
    if run.status not in ENDINGS:
        return None
    return RunNote(
        run=run.id,
        status=run.status,
        text=ENDINGS[run.status],
        failure=None if told else run_failure(run.error),
        sent=unsaid(run),
        again=_text_alone(run),
        action=runs_url(run.session),
        unfinished=_unfinished(run),
    )


def unsaid(run: RunRow) -> tuple[SpokenPart, ...]:
    """The message of a run that no event of the session holds, or does not hold yet."""
    return spoken({"content": json.loads(run.message)}, markdown=False) if run.message else ()


def _text_alone(run: RunRow) -> str:
    """The unsaid message if it is nothing but text, as the composer sends it."""
    parts = json.loads(run.message).get("parts") or [] if run.message else []
    return parts[0]["text"] if len(parts) == 1 and set(parts[0]) == {"text"} else ""


def _unfinished(run: RunRow) -> tuple[Unfinished, ...]:
    answers = json.loads(run.unfinished) if run.unfinished else []
    return tuple(Unfinished(visible(a["author"]), readable(clipped(a["text"]))) for a in answers)


def run_failure(error: str | None) -> Failure | None:
    """The error of a run: JSON text with `type`, `message`, `traceback`, `file`, `line`."""
    if error is None:
        return None
    told = json.loads(error)
    return failure(told) if isinstance(told, dict) else Failure(visible(str(told)))


def agent_failure(error: AgentError) -> Failure:
    """An exception of agent code, as a worker told it."""
    return failure(asdict(error))


def failure(told: dict[str, Any]) -> Failure:
    """An exception of agent code; absent fields are left out."""
    name, message = str(told.get("type") or ""), str(told.get("message") or "")
    file, line = told.get("file"), told.get("line")
    place = f"{file}:{line}" if file and line else str(file or "")
    return Failure(
        message=visible(clipped(": ".join(filter(None, (name, message))))),
        place=visible(place),
        traceback=visible(clipped(str(told.get("traceback") or ""))),
    )


def log_line(number: int, line: OutputLine) -> LogLine:
    """A line that the agent printed or logged; `number` counts within its run."""
    return LogLine(
        number=number,
        stream=visible(line.stream),
        text=visible(clipped(line.text)),
        clock=formats.clock(line.at),
    )
