"""Notes and stars as the pages show them."""

from devui.store.rows import NoteRow
from devui.web.links import note_url
from devui.web.parts import NoteForm, NoteMark
from devui.web.text.visible import readable, visible


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
