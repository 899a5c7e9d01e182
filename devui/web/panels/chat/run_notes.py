"""What the chat says of runs that did not simply finish, and of messages that became no event."""

import json

from devui.debugger.questions.open import answer_lost
from devui.store.rows import RunRow
from devui.web.links import runs_url
from devui.web.panels.chat.content import spoken_parts
from devui.web.panels.chat.content_parts import SpokenPart
from devui.web.panels.chat.parts import RunNote, Unfinished
from devui.web.panels.runs.failure import run_failure
from devui.web.panels.timeline.runs import ENDINGS, ending
from devui.web.text.formats import clipped
from devui.web.text.visible import readable, visible
from devui.wire.events import Content


def run_note(run: RunRow, *, follows_error: bool) -> RunNote | None:
    """What the chat says of a run that did not simply finish; None for the others.

    `follows_error`: the message before is the error itself, which is enough if nothing else has to
    be said.
    """
    if run.status not in ENDINGS:
        return None
    user_parts, unfinished = unsaid(run), _unfinished(run)
    if follows_error and not user_parts and not unfinished:
        return None  # the error itself says that the run failed, and below is what to do about it
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


def unsaid(run: RunRow) -> tuple[SpokenPart, ...]:
    """The message of a run that no event of the session holds, or does not hold yet."""
    return spoken_parts(Content(json.loads(run.message)), markdown=False) if run.message else ()


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
