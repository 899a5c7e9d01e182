"""What can go wrong in the journal, as one tree.

    StoreError
    ├── BadValue (also a ValueError)     the caller handed over what cannot be stored
    ├── SessionNotFound  SessionExists
    ├── EventNotFound
    ├── ReadOnly                         the session came from a bundle
    ├── EventConflict                    an event id came again with other content
    ├── BreakpointNotFound  BreakpointChanged
    ├── RunNotFound  RunExists  RunActive  RunNotActive  RunTransition  Overtaken
    └── JournalError                     the journal as a whole
        ├── FolderRefused  JournalInUse  JournalForeign  JournalNewer      while opening
        └── JournalClosed  JournalBusy  JournalFull  JournalFailed  JournalGone  JournalDamaged
                             └── JournalLogGone

Every message is one sentence with the value in question and, where there is one, the way out.
"""

import sqlite3

_PRIMARY_CODE = 0xFF
"""SQLite's extended result codes keep the primary code in the lowest byte."""


class StoreError(Exception):
    """Anything the store refuses or fails at."""


class BadValue(StoreError, ValueError):
    """A text or a JSON value that the journal cannot keep faithfully."""


class SessionNotFound(StoreError):
    """No session has this key."""


class SessionExists(StoreError):
    """The application already has a session of this user with this id."""

    def __init__(self, text: str, key: int) -> None:
        super().__init__(text)
        self.key = key
        """Of the session that has the id."""


class EventNotFound(StoreError):
    """The session has no event of this number."""


class EventConflict(StoreError):
    """The session already holds an event with this id and other content (R37)."""


class ReadOnly(StoreError):
    """The session was imported; what goes on goes on in a fork of it (R27)."""


class BreakpointNotFound(StoreError):
    """No breakpoint has this number."""


class BreakpointChanged(StoreError):
    """The breakpoint was changed since the version that the caller read."""


class RunNotFound(StoreError):
    """No run has this id."""


class RunExists(StoreError):
    """A run with this id is already recorded."""


class RunActive(StoreError):
    """The session has a run that has not ended; only one may be active."""


class RunNotActive(StoreError):
    """The run has ended or belongs to another session, so it may not write (R38)."""


class RunTransition(StoreError):
    """The run may not go from its present status to the wanted one."""


class Overtaken(StoreError):
    """Something has come into the session that the caller has not read yet."""


class NotQueued(StoreError):
    """The message has left the queue: it was sent, or somebody removed it."""


class JournalError(StoreError):
    """The journal itself cannot be opened, read or written."""


class FolderRefused(JournalError):
    """The data folder is a symbolic link, belongs to someone else or is no folder (R10)."""


class JournalInUse(JournalError):
    """Another process holds this data folder (R39)."""


class JournalForeign(JournalError):
    """The file at the journal's place belongs to another application (R43)."""


class JournalNewer(JournalError):
    """A newer version of devui wrote this journal (R44)."""


class JournalClosed(JournalError):
    """The journal has been closed, or is closing."""


class JournalBusy(JournalError):
    """Another process kept the database locked for longer than the busy timeout (R41)."""


class JournalFull(JournalError):
    """The disk, or the database's page limit, is full; nothing of the change was kept (R42)."""


class JournalFailed(JournalError):
    """The operating system refused a read or a write; nothing of the change was kept (R42)."""


class JournalGone(JournalError):
    """The journal's file was moved, deleted or replaced while it was open (R42)."""


class JournalLogGone(JournalGone):
    """So was the log that SQLite keeps beside it (R42)."""


class JournalDamaged(JournalError):
    """SQLite found the database malformed (R43)."""


PASSING = (JournalBusy, JournalFull, JournalFailed, JournalGone)
"""What is not of the journal's making: it takes changes again as soon as that is over."""


_BY_CODE: dict[int, type[JournalError]] = {
    sqlite3.SQLITE_BUSY: JournalBusy,
    sqlite3.SQLITE_LOCKED: JournalBusy,
    sqlite3.SQLITE_FULL: JournalFull,
    sqlite3.SQLITE_IOERR: JournalFailed,
    sqlite3.SQLITE_READONLY: JournalFailed,
    sqlite3.SQLITE_CANTOPEN: JournalFailed,
    sqlite3.SQLITE_PERM: JournalFailed,
    sqlite3.SQLITE_CORRUPT: JournalDamaged,
    sqlite3.SQLITE_NOTADB: JournalDamaged,
}

_ADVICE: dict[type[JournalError], str] = {
    JournalBusy: "close the program that holds it, then try again",
    JournalFull: "make room on the disk, then try again",
    JournalFailed: "check the disk and the permissions of the data folder",
    JournalDamaged: (
        "restart devui, which keeps the damaged file untouched, starts a new journal beside it and "
        "says how to read out what is left"
    ),
}


def primary_code(error: sqlite3.Error) -> int | None:
    """Return SQLite's primary result code; None for errors that Python's binding raised itself."""
    code: int | None = vars(error).get("sqlite_errorcode")
    return None if code is None else code & _PRIMARY_CODE


def is_undecodable(error: sqlite3.Error) -> bool:
    """Whether Python's binding could not decode a text of the journal, which is no UTF-8."""
    return primary_code(error) is None and str(error).startswith("Could not decode to UTF-8")


def from_sqlite(error: sqlite3.Error, place: str) -> JournalError:
    """Translate an error of SQLite into ours, naming the database and what to do."""
    code = primary_code(error)
    kind = JournalError if code is None else _BY_CODE.get(code, JournalError)
    advice = _ADVICE.get(kind, "this is a fault in devui, please report it")
    return kind(f"the journal {place!r} answered {error}: {advice}")
