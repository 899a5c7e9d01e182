"""Runs as the pages show them: in the top bar, in the timeline, in the chat."""

import json
from typing import Final

from devui.debugger.limits import LIMITED
from devui.debugger.open_questions import answer_lost
from devui.store.rows import OutputLine, RunRow
from devui.web.links import runs_url
from devui.web.parts.content import SpokenPart
from devui.web.parts.inspector import LogLine
from devui.web.parts.session import RunEnd, RunNote, Unfinished
from devui.web.parts.status import Status
from devui.web.presenters.content import spoken
from devui.web.presenters.failures import run_failure
from devui.web.text import formats
from devui.web.text.bounds import clipped
from devui.web.text.formats import moment
from devui.web.text.visible import readable, visible

ENDINGS: Final[dict[Status, str]] = {
    "failed": "The run failed",
    "stopped": "The run was stopped",
    "interrupted": "The run was interrupted: the server went away before its end",
}
"""What is said about a run that did not simply finish."""

_AT_A_LIMIT: Final = "The run was ended at its limit"


def run_end(run: RunRow) -> RunEnd | None:
    """The row that tells how a run ended; None while it goes on and when it simply finished."""
    if run.status not in ENDINGS:
        return None
    return RunEnd(
        run=run.id,
        status=run.status,
        text=_ending(run),
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
        text=_ending(run),
        failure=None if told else run_failure(run.error),
        sent=unsaid(run),
        answer_lost=answer_lost(run),
        again=_text_alone(run),
        action=runs_url(run.session),
        unfinished=_unfinished(run),
    )


def _ending(run: RunRow) -> str:
    error = json.loads(run.error) if run.error else None
    is_limited = isinstance(error, dict) and error.get("type") == LIMITED
    return _AT_A_LIMIT if is_limited else ENDINGS[run.status]


def unsaid(run: RunRow) -> tuple[SpokenPart, ...]:
    """The message of a run that no event of the session holds, or does not hold yet."""
    return spoken({"content": json.loads(run.message)}, markdown=False) if run.message else ()


def _text_alone(run: RunRow) -> str:
    """The unsaid message if it is nothing but text, as the composer sends it."""
    parts = json.loads(run.message).get("parts") or [] if run.message else []
    return parts[0]["text"] if len(parts) == 1 and set(parts[0]) == {"text"} else ""


def _unfinished(run: RunRow) -> tuple[Unfinished, ...]:
    answers = json.loads(run.unfinished) if run.unfinished else []
    return tuple(Unfinished(visible(a["author"]), cut_off(a["text"])) for a in answers)


def cut_off(text: str) -> str:
    """What an agent had said when it was cut off, for markdown.

    The ellipsis tells so, and by it the beginning of a secret at the end is known for one (R64).
    """
    return readable(f"{clipped(text)}…")


def log_line(number: int, line: OutputLine) -> LogLine:
    """A line that the agent printed or logged; `number` counts within its run."""
    return LogLine(
        number=number,
        stream=visible(line.stream),
        text=visible(clipped(line.text)),
        clock=formats.clock(line.at),
    )
