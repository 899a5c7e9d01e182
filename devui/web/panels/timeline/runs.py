"""Runs as the pages show them: in the top bar, in the timeline, in the chat."""

import json
from typing import Final

from devui.debugger.questions.open import answer_lost
from devui.debugger.runs.limits import LIMITED
from devui.store.rows import OutputLine, RunRow
from devui.web.basic_parts import Status
from devui.web.links import runs_url
from devui.web.panels.chat.content import spoken
from devui.web.panels.chat.content_parts import SpokenPart
from devui.web.panels.inspector.parts import LogLine
from devui.web.panels.runs.status import run_failure
from devui.web.panels.session.parts import RunEnd, RunNote, Unfinished
from devui.web.text import formats
from devui.web.text.formats import clipped, moment
from devui.web.text.visible import readable, visible
from devui.wire.events import Content

ENDINGS: Final[dict[Status, str]] = {
    "failed": "The run failed",
    "stopped": "The run was stopped",
    "interrupted": "The run was interrupted: the server stopped",
}
"""What is said about a run that did not simply finish."""

_AT_A_LIMIT: Final = "The run reached its limit"


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


def run_note(run: RunRow, *, follows_error: bool) -> RunNote | None:
    """The same for the chat.

    `follows_error`: the message before is the error itself, which is enough if nothing else has to
    be said.
    """
    if run.status not in ENDINGS:
        return None
    sent, unfinished = unsaid(run), _unfinished(run)
    if follows_error and not sent and not unfinished:
        return None  # the error itself says that the run failed, and below is what to do about it
    return RunNote(
        run=run.id,
        status=run.status,
        text=_ending(run),
        failure=None if follows_error else run_failure(run.error),
        user_parts=sent,
        answer_lost=answer_lost(run),
        again=_text_alone(run),
        action=runs_url(run.session),
        unfinished=unfinished,
    )


def _ending(run: RunRow) -> str:
    error = json.loads(run.error) if run.error else None
    is_limited = isinstance(error, dict) and error.get("type") == LIMITED
    return _AT_A_LIMIT if is_limited else ENDINGS[run.status]


def unsaid(run: RunRow) -> tuple[SpokenPart, ...]:
    """The message of a run that no event of the session holds, or does not hold yet."""
    return spoken(Content(json.loads(run.message)), markdown=False) if run.message else ()


def _text_alone(run: RunRow) -> str:
    """The unsaid message if it is nothing but text, as the composer sends it."""
    parts = Content(json.loads(run.message)).parts if run.message else ()
    return parts[0].text if len(parts) == 1 and parts[0].is_text_alone else ""


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
