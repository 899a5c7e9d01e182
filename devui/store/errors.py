"""The errors of the journal, in one tree.

    StoreError
    ├── BadValue (also a ValueError)     the caller passed something that can't be stored
    ├── SessionNotFound  SessionExists
    ├── EventNotFound
    ├── ReadOnly                         the session was imported
    ├── EventConflict                    an event id was used again for other content
    ├── BreakpointNotFound  BreakpointChanged
    ├── RunNotFound  RunExists  RunActive  RunNotActive  RunTransition  StaleSession
    ├── NotQueued                        the message has left the queue
    └── JournalError                     the journal as a whole
        ├── FolderRefused  JournalInUse  JournalForeign  JournalNewer      while opening
        ├── JournalClosed  JournalBusy  JournalFull  JournalFailed  JournalDamaged
        └── JournalGone
            └── JournalLogGone

Every message is one sentence with the value in question and, if possible, what to do.
"""

import sqlite3

_PRIMARY_CODE = 0xFF
"""SQLite's extended result codes keep the primary code in the lowest byte."""


class StoreError(Exception):
    """The store refused or failed to do something."""


class BadValue(StoreError, ValueError):
    """The journal can't store this text or JSON value faithfully."""


class SessionNotFound(StoreError):
    """No session has this key."""


class SessionExists(StoreError):
    """The application already has a session of this user with this id."""

    def __init__(self, text: str, key: int) -> None:
        super().__init__(text)
        self.key = key
        """The key of the session that has the id."""


class EventNotFound(StoreError):
    """The session has no event with this number."""


class EventConflict(StoreError):
    """The session already has an event with this id and other content (R37)."""


class ReadOnly(StoreError):
    """The session was imported and can only be continued in a fork (R27)."""


class BreakpointNotFound(StoreError):
    """No breakpoint has this number."""


class BreakpointChanged(StoreError):
    """The breakpoint was changed since the version that the caller read."""


class RunNotFound(StoreError):
    """No run has this id."""


class RunExists(StoreError):
    """A run with this id is already recorded."""


class RunActive(StoreError):
    """The session has a run that hasn't ended; only one may be active."""


class RunNotActive(StoreError):
    """The run has ended or belongs to another session, so it may not write (R38)."""


class RunTransition(StoreError):
    """The run can't change from its current status to the requested one."""


class StaleSession(StoreError):
    """The session has changed since the caller last read it."""


class NotQueued(StoreError):
    """The message has left the queue, because it was sent or removed."""


class JournalError(StoreError):
    """The journal can't be opened, read or written."""


class FolderRefused(JournalError):
    """The data folder can't be used: a symbolic link, someone else's, or no folder (R10)."""


class JournalInUse(JournalError):
    """Another process holds this data folder (R39)."""


class JournalForeign(JournalError):
    """The file at the journal's path belongs to another application (R43)."""


class JournalNewer(JournalError):
    """A newer version of devui wrote this journal (R44)."""


class JournalClosed(JournalError):
    """The journal has been closed, or is closing."""


class JournalBusy(JournalError):
    """Another process kept the database locked for longer than the busy timeout (R41)."""


class JournalFull(JournalError):
    """The disk is full or the database has reached its page limit; the change was undone (R42)."""


class JournalFailed(JournalError):
    """The operating system refused a read or write; the change was undone (R42)."""


class JournalGone(JournalError):
    """The journal's file was moved, deleted or replaced while it was open (R42)."""


class JournalLogGone(JournalGone):
    """A log file that SQLite keeps beside the journal was moved, deleted or replaced (R42)."""


class JournalDamaged(JournalError):
    """The database or a value in it is malformed (R43)."""


PASSING = (JournalBusy, JournalFull, JournalFailed, JournalGone)
"""Errors with causes outside the journal; it accepts changes again once the cause is gone."""


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
    """Return SQLite's primary result code; None for errors raised by Python's binding itself."""
    code: int | None = vars(error).get("sqlite_errorcode")
    return None if code is None else code & _PRIMARY_CODE


def is_undecodable(error: sqlite3.Error) -> bool:
    """Return whether Python's binding couldn't decode a text of the journal as UTF-8."""
    return primary_code(error) is None and str(error).startswith("Could not decode to UTF-8")


def from_sqlite(error: sqlite3.Error, place: str) -> JournalError:
    """Translate an SQLite error into one of ours, which names the database and what to do."""
    code = primary_code(error)
    kind = JournalError if code is None else _BY_CODE.get(code, JournalError)
    advice = _ADVICE.get(kind, "this is a fault in devui, please report it")
    return kind(f"the journal {place!r} answered {error}: {advice}")
