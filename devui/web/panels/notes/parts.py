"""Notes and stars: their form and their mark."""

from dataclasses import dataclass
from typing import ClassVar, Final

from devui.store.rows import NoteRow
from devui.web.links import note_url
from devui.web.text.visible import readable, visible


@dataclass(frozen=True, slots=True)
class NoteMark:
    """At the left of a row: a star, a note. Goes into `#nm-{number}`."""

    template: ClassVar[str] = "notes/note_mark.html"
    text: str = ""
    starred: bool = False


NO_NOTE: Final = NoteMark()


@dataclass(frozen=True, slots=True)
class NoteForm:
    """The star and the note of an event, or of the session. Its element is `#note-{number}`."""

    template: ClassVar[str] = "notes/note_form.html"
    number: int
    """Of the event; 0: the session."""
    action: str
    text: str = ""
    starred: bool = False
    by: str = ""
    """Who wrote it last."""


def note_mark(note: NoteRow | None) -> NoteMark:
    """What stands at the left of a row."""
    return NoteMark() if note is None else NoteMark(visible(note.text), note.starred)


def note_form(session: int, number: int, note: NoteRow | None) -> NoteForm:
    """The star and the note of an event, or with 0 of the session."""
    action = note_url(session, number)
    if note is None:
        return NoteForm(number, action)
    by = f"by {visible(note.actor)}" if note.text else ""
    return NoteForm(number, action, readable(note.text), note.starred, by)
