"""Notes and stars: their form and their mark."""

from dataclasses import dataclass
from typing import ClassVar, Final

from devui.store.rows import NoteRow
from devui.web.links import note_url
from devui.web.text.deceptive_characters import readable, visible


@dataclass(frozen=True, slots=True)
class NoteMark:
    """A star or a note at the left of a row. Goes into `#nm-{number}`."""

    template: ClassVar[str] = "notes/note_mark.html"
    text: str = ""
    starred: bool = False


NO_NOTE: Final = NoteMark()


@dataclass(frozen=True, slots=True)
class NoteForm:
    """The star and the note of an event, or of the session. Its element is `#note-{number}`."""

    template: ClassVar[str] = "notes/note_form.html"
    number: int
    """The number of the event; 0 for the session."""
    action: str
    text: str = ""
    starred: bool = False
    by: str = ""
    """The author of the text."""


def note_mark(note: NoteRow | None) -> NoteMark:
    """Return the mark at the left of a row."""
    return NoteMark() if note is None else NoteMark(visible(note.text), note.starred)


def note_form(session: int, number: int, note: NoteRow | None) -> NoteForm:
    """Return the star and the note of an event; those of the session for 0."""
    action = note_url(session, number)
    if note is None:
        return NoteForm(number, action)
    by = visible(note.actor) if note.text else ""
    return NoteForm(number, action, readable(note.text), note.starred, by)
