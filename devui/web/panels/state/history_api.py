"""The history of a state key, over HTTP."""

from typing import Any, Final, Literal, NotRequired

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.debugger.history.blame import ABSENT, Difference
from devui.debugger.history.key_history import KeyHistory, KeyWrite, Writer, key_history
from devui.debugger.history.paths import Path, path_of, path_text
from devui.store.rows import Scope
from devui.store.state import prefixed, scoped
from devui.web.errors import BadRequest
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Query, operation
from devui.web.panels.state.addresses import moment_of

_SCOPES: Final[dict[str, Scope]] = {"session": "session", "user": "user", "app": "app"}


class DifferenceJson(TypedDict):
    """One place that differs; `old` or `new` is absent if it had no value."""

    path: str
    old: NotRequired[Any]
    new: NotRequired[Any]


class WriterJson(TypedDict):
    """Who wrote a value."""

    writer: Writer
    number: int | None
    session: int | None
    author: str | None
    tools: list[str]


class BlameJson(WriterJson):
    """Who wrote one place of a value."""

    path: str


class KeyEditJson(TypedDict):
    """What a person did at a gate on the way to a write."""

    action: str
    gate: str
    by: str


class KeyWriteJson(WriterJson):
    """One write of a key; `old` is absent if the key didn't exist."""

    new: Any
    old: NotRequired[Any]
    changes: list[DifferenceJson]
    edits: list[KeyEditJson]
    overlaps: list[str]


class KeyHistoryJson(TypedDict):
    """The writes of a key, oldest first."""

    at: int | None
    path: str
    key: str
    writes: list[KeyWriteJson]
    hasEarlier: bool
    """Whether there are older writes, before the newest 200."""
    blame: list[BlameJson]
    by: WriterJson | None
    """The write that the value at `path` comes from."""


@operation(
    KeyHistoryJson,
    query={
        "key": Query(str, "The key, with its prefix", required=True),
        "scope": Query(
            Literal["session", "user", "app"],
            "`session`, `user` or `app`, for a key without its prefix",
        ),
        "path": Query(str, "A place in the value: `steps[2].done`"),
        "at": Query(int, "Writes up to this event; 0 is before the first"),
    },
    refusals=(400,),
)
async def show(request: Request) -> Response:
    """List the writes of a state key.

    Returns the newest 200, oldest first. With `path`, returns the writes that changed that part of
    the value, and in `by` the one it comes from.
    """
    services, session = await session_of(request)
    scope, key = _scoped_key(request)
    path = _path(request.query_params.get("path") or "")
    at = await moment_of(services, session, request.query_params.get("at"))
    until = at.seq if at else None
    history = await key_history(
        services.journal.histories, session.key, scope, key, until=until, path=path
    )
    return answer(
        {"at": at.number if at else None, "path": path_text(path), **_history_json(history)}
    )


def change_json(change: Difference) -> DifferenceJson:
    """Return one place that differs as JSON; `old` or `new` is absent if it had no value."""
    entry: DifferenceJson = {"path": path_text(change.path)}
    if change.old is not ABSENT:
        entry["old"] = change.old
    if change.new is not ABSENT:
        entry["new"] = change.new
    return entry


def _scoped_key(request: Request) -> tuple[Scope, str]:
    key, scope = request.query_params.get("key"), request.query_params.get("scope")
    if not key:
        raise BadRequest("name the key: `?key=plan`, or `?key=user:name`")
    if scope is None:
        return scoped(key)
    if scope not in _SCOPES:
        raise BadRequest("`scope` must be session, user, or app")
    return _SCOPES[scope], key.removeprefix(f"{scope}:")


def _path(text: str) -> Path:
    try:
        return path_of(text)
    except ValueError as error:
        raise BadRequest(str(error)) from error


def _history_json(history: KeyHistory) -> dict[str, Any]:
    return {
        "key": prefixed(history.scope, history.key),
        "writes": [_write(write) for write in history.writes],
        "hasEarlier": history.earlier,
        "blame": [{"path": path_text(at), **_by(write)} for at, write in history.blame],
        "by": None if history.source is None else _by(history.source),
    }


def _by(write: KeyWrite) -> WriterJson:
    """Return the writer; `number` is an event of this session, None for other writers."""
    row = write.event
    own = write.writer == "event"
    return {
        "writer": write.writer,
        "number": row.number if row and own else None,
        "session": write.session if write.writer == "elsewhere" else None,
        "author": row.author if row else None,
        "tools": [*write.tools],
    }


def _write(write: KeyWrite) -> dict[str, Any]:
    edits = write.summary.edits if write.summary else ()
    entry = {
        **_by(write),
        "new": write.new,
        "changes": [change_json(change) for change in write.changes],
        "edits": [{"action": each.action, "gate": each.gate, "by": each.by} for each in edits],
        "overlaps": [note.by for note in write.overlaps],
    }
    return entry if write.old is ABSENT else {**entry, "old": write.old}
