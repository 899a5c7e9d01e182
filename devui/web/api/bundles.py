"""Sessions as files over HTTP: what an export would leave out, the export, the import."""

import logging
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from devui.debugger.bundles.exchange import Exchange, Finding, Wish
from devui.debugger.bundles.reading import BadBundle
from devui.store.rows import SessionRow
from devui.web.api.debug import answer
from devui.web.errors import BadRequest, Unprocessable
from devui.web.exported.page import html
from devui.web.security.veil import REVEALED
from devui.web.services import Services, services
from devui.web.uploads import body_into, spool
from devui.web.views.lookup import session_of

_log = logging.getLogger(__name__)
_FORMATS: Final[Mapping[str, str]] = {
    "json": "application/json",
    "html": "text/html; charset=utf-8",
}
_NAMED: Final = 60
"""Characters of a session's name that its file gets."""


async def export(request: Request) -> Response:
    """The session as a file, written while it is read; `?keys=` and `?secrets=keep` choose."""
    found, session = await session_of(request)
    wish = wish_of(request)
    wanted = request.query_params.get("format", "json")
    if wanted not in _FORMATS:
        raise BadRequest(f"format has to be one of {', '.join(_FORMATS)}")
    if wanted == "html":
        lines = html(found, session.key, wish)
    else:
        lines = exchange(found).lines(session.key, wish)
    if wish.keep_secrets:
        _log.warning("session %s was exported with its secrets", session.key)
    revealed = {REVEALED.decode(): "yes"} if wish.keep_secrets else {}
    name = session.title or session.id
    shown = name if wish.keep_secrets else found.veil.text(name)
    headers = revealed | {"Content-Disposition": disposition(session, shown, f"devui.{wanted}")}
    return StreamingResponse(_encoded(lines), media_type=_FORMATS[wanted], headers=headers)


async def preview(request: Request) -> Response:
    """What an export with the same query would leave out."""
    found, session = await session_of(request)
    told = await exchange(found).preview(session.key, wish_of(request))
    return answer({"findings": [_finding(each) for each in told.findings], "keys": list(told.keys)})


async def take(request: Request) -> Response:
    """Make a session of a bundle, to be read and forked; into its own app, or `?app=`."""
    found = services(request)
    with spool(found.journal.path) as file:
        await body_into(request, file)
        try:
            made = await exchange(found).take(file, app=app_of(found, request))
        except BadBundle as error:
            raise Unprocessable(str(error)) from error
    await found.know_credentials()
    told = {"key": made.key, "id": made.id, "app": made.app, "user": made.user}
    aside = await found.journal.imports.set_aside(made.key)
    unknown = {"setAside": aside} if aside else {}
    return answer({**told, "title": made.title, "events": made.events, **unknown}, status=201)


def exchange(found: Services) -> Exchange:
    """What writes and reads bundles."""
    return Exchange(found.journal, found.settings)


def wish_of(request: Request) -> Wish:
    """What the query says is to be taken out, or left in; raises BadRequest."""
    secrets = request.query_params.get("secrets", "")
    if secrets not in {"", "keep"}:
        raise BadRequest("secrets is either left out or `keep`")
    keys = frozenset(key for key in request.query_params.getlist("keys") if key)
    return Wish(keep_secrets=secrets == "keep", keys=keys)


def app_of(found: Services, request: Request) -> str | None:
    """The app that an import is to go to, if the query names one; raises UnknownApp."""
    app = request.query_params.get("app") or None
    if app is not None:
        found.apps.require(app)
    return app


def disposition(session: SessionRow, wanted: str, ending: str) -> str:
    """The name that a browser gives the file: of the session, and of plain characters."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in wanted)
    name = f"{session.app}-{plain.strip('.-') or session.key}"[:_NAMED]
    return f"attachment; filename=\"{name}.{ending}\"; filename*=UTF-8''{quote(name)}.{ending}"


async def _encoded(lines: AsyncIterator[str]) -> AsyncIterator[bytes]:
    async for line in lines:
        yield line.encode()


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "hint": finding.hint,
        "count": finding.count,
        "places": finding.places or [],
    }
