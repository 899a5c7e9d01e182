"""The chat's notes on runs that didn't end normally, and on messages that never became events."""

import json

from devui.debugger.questions.open import answer_lost
from devui.store.rows import RunRow
from devui.web.links import runs_url
from devui.web.panels.chat.content import spoken_parts
from devui.web.panels.chat.content_parts import SpokenPart
from devui.web.panels.chat.parts import RunNote, StreamedText
from devui.web.panels.runs.failure import run_failure
from devui.web.panels.timeline.runs import ENDINGS, ending
from devui.web.text.deceptive_characters import readable, visible
from devui.web.text.formats import clipped
from devui.wire.events import Content


def run_note(run: RunRow, *, follows_error: bool) -> RunNote | None:
    """Return the chat's note on a run that didn't end normally; None for other runs.

    With `follows_error`, the previous message is the error itself, which is enough if there is
    nothing else to say.
    """
    if run.status not in ENDINGS:
        return None
    user_parts, unfinished = unsent_parts(run), _unfinished(run)
    if follows_error and not user_parts and not unfinished:
        return None  # the error itself says that the run failed, and what to do is below it
    return RunNote(
        run=run.id,
        status=run.status,
        text=ending(run),
        failure=None if follows_error else run_failure(run.error),
        user_parts=user_parts,
        answer_lost=answer_lost(run),
        again=_text_alone(run),
        action=runs_url(run.session),
        unfinished=unfinished,
    )


def unsent_parts(run: RunRow) -> tuple[SpokenPart, ...]:
    """Return the run's message if it isn't, or isn't yet, an event of the session."""
    return spoken_parts(Content(json.loads(run.message)), markdown=False) if run.message else ()


def _text_alone(run: RunRow) -> str:
    """Return the unsent message if it is only text, like one sent from the composer; else ""."""
    parts = Content(json.loads(run.message)).parts if run.message else ()
    return parts[0].text if len(parts) == 1 and parts[0].is_text_alone else ""


def _unfinished(run: RunRow) -> tuple[StreamedText, ...]:
    answers = json.loads(run.unfinished) if run.unfinished else []
    return tuple(StreamedText(visible(a["author"]), cut_off(a["text"])) for a in answers)


def cut_off(text: str) -> str:
    """Return what an agent had said when it was cut off, as Markdown.

    The ellipsis shows that it was cut off, and lets the redactor recognize the beginning of a
    secret at the end (R64).
    """
    return readable(f"{clipped(text)}…")
