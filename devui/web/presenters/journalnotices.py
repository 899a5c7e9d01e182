"""What every page says when something is wrong with the journal as a whole (R41 to R43)."""

from devui.store.errors import JournalBusy, JournalError, JournalFailed, JournalFull
from devui.store.journal import Journal
from devui.web.parts.basics import Notice
from devui.web.text.visible import visible

_TROUBLES: dict[type[JournalError], tuple[str, str]] = {
    JournalFull: ("The disk is full.", "there is room again"),
    JournalFailed: ("The journal cannot be written.", "disk and permissions let it"),
    JournalBusy: ("Another program has locked the journal.", "that lets go"),
}


def trouble_notices(journal: Journal) -> tuple[Notice, ...]:
    """That the journal takes nothing now (R41, R42)."""
    if journal.trouble is None:
        return ()
    title, until = _TROUBLES[type(journal.trouble)]
    text = (
        f"Nothing new is kept in {journal.path} until {until}, which is tried each second. "
        "Runs wait for that and then go on. What was committed before is whole and can be read."
    )
    return (Notice("bad", title, visible(text)),)


def aside_notices(journal: Journal) -> tuple[Notice, ...]:
    """That a damaged journal was set aside when the server began (R43)."""
    path = journal.set_aside
    if path is None:
        return ()
    text = (
        f"The damaged one is kept untouched as {path}; what is left in it can be read out "
        f'with: sqlite3 "{path}" .recover'
    )
    return (Notice("warn", "The journal was damaged, and a new one was begun.", visible(text)),)
