"""Who wrote a state key, over HTTP."""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.blame import ABSENT, Difference
from devui.debugger.keyhistory import KeyHistory, KeyWrite, key_history
from devui.debugger.paths import Path, path_of, path_text
from devui.store.rows import Scope
from devui.store.state import prefixed, scoped
from devui.web.api.debug import answer
from devui.web.errors import BadRequest
from devui.web.views.lookup import session_of
from devui.web.views.moments import moment_of

_SCOPES: Final[dict[str, Scope]] = {"session": "session", "user": "user", "app": "app"}


async def show(request: Request) -> Response:
    """Every write of `?key=` (with its prefix, or with `scope`), now or up to event `?at=`."""
    found, session = await session_of(request)
    scope, key = _asked(request)
    path = _path(request.query_params.get("path") or "")
    at = await moment_of(found, session, request.query_params.get("at"))
    until = at.seq if at else None
    history = await key_history(
        found.journal.histories, session.key, scope, key, until=until, path=path
    )
    return answer({"at": at.number if at else None, "path": path_text(path), **_told(history)})


def change_told(change: Difference) -> dict[str, Any]:
    """One place that differs; `old` is missing where nothing was, `new` where nothing is."""
    told: dict[str, Any] = {"path": path_text(change.path)}
    told |= {} if change.old is ABSENT else {"old": change.old}
    return told | ({} if change.new is ABSENT else {"new": change.new})


def _asked(request: Request) -> tuple[Scope, str]:
    key, named = request.query_params.get("key"), request.query_params.get("scope")
    if not key:
        raise BadRequest("name the key: `?key=plan`, or `?key=user:name`")
    if named is None:
        return scoped(key)
    if named not in _SCOPES:
        raise BadRequest("`scope` is one of session, user, app")
    return _SCOPES[named], key.removeprefix(f"{named}:")


def _path(text: str) -> Path:
    try:
        return path_of(text)
    except ValueError as error:
        raise BadRequest(str(error)) from error


def _told(history: KeyHistory) -> dict[str, Any]:
    return {
        "key": prefixed(history.scope, history.key),
        "writes": [_write(write) for write in history.writes],
        "earlier": history.earlier,
        "blame": [{"path": path_text(at), **_by(write)} for at, write in history.blame],
        "by": None if history.asked is None else _by(history.asked),
    }


def _by(write: KeyWrite) -> dict[str, Any]:
    """Who it was; `number` is that of this session's event, and None for other writers."""
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
    told = {
        **_by(write),
        "new": write.new,
        "changes": [change_told(change) for change in write.changes],
        "edits": [{"action": each.action, "gate": each.gate, "by": each.by} for each in edits],
        "overlaps": [note.by for note in write.overlaps],
    }
    return told if write.old is ABSENT else {**told, "old": write.old}
