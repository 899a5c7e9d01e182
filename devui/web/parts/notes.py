"""What people say of events and sessions."""

from dataclasses import dataclass
from typing import ClassVar, Final


@dataclass(frozen=True, slots=True)
class NoteMark:
    """At the left of a row: a star, a note. Goes into `#nm-{number}`."""

    template: ClassVar[str] = "parts/note_mark.html"
    text: str = ""
    starred: bool = False


NO_NOTE: Final = NoteMark()


@dataclass(frozen=True, slots=True)
class NoteForm:
    """The star and the note of an event, or of the session. Its element is `#note-{number}`."""

    template: ClassVar[str] = "parts/note_form.html"
    number: int
    """Of the event; 0: the session."""
    action: str
    text: str = ""
    starred: bool = False
    by: str = ""
    """Who wrote it last."""
