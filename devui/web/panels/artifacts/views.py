"""Serves the files that agents saved or received so that nothing in them is active (R24)."""

import mimetypes
from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.debugger.background.jobs import UNWATCHED
from devui.debugger.events.news import ArtifactsChanged
from devui.debugger.history.paths import Path, path_of
from devui.web.errors import BadRequest, NotFound
from devui.web.links import artifact_url, event_file_url, pdf_page_url, session_url
from devui.web.lookup import event_of as stored_event
from devui.web.lookup import session_of
from devui.web.page_query import PageQuery, view_of
from devui.web.panels.artifacts.panel import artifacts_panel
from devui.web.panels.artifacts.parts import PdfPages
from devui.web.panels.artifacts.pdf import UnreadablePdf, can_draw, draw
from devui.web.panels.chat.content import InlineFile, inline_file
from devui.web.panels.chat.previews import OPENS_IN_BROWSER, is_true_type, media_type
from devui.web.security.intake import read_form
from devui.web.services import services_of
from devui.web.text.formats import plural
from devui.web.text.numbers import whole_number
from devui.web.uploads import form_file

_PAGES: Final = 50
"""The most pages of a PDF that are shown."""
_LARGEST: Final = 20_000_000
"""The maximum size of an upload in bytes, the same as in ADK's API."""
_SANDBOX: Final = (
    "sandbox; default-src 'none'; img-src data:; media-src 'self'; style-src 'unsafe-inline';"
    " frame-ancestors 'self'"
)


async def show(request: Request) -> Response:
    """Serve one version of an artifact, by default the newest; `?name=` allows any name, even
    `..`."""
    services, session = await session_of(request)
    name = request.path_params.get("name") or request.query_params.get("name", "")
    text = request.query_params.get("version")
    version = whole_number(text)
    if text is not None and version is None:
        raise BadRequest("`version` must be a whole number, 0 or more")
    artifact = await services.journal.artifacts.load(
        session.app, session.user, session.id, name, version=version
    )
    if artifact is None:
        raise NotFound("there is no such artifact in this session")
    content = artifact.data if artifact.data is not None else (artifact.text or "").encode()
    mime = artifact.row.mime if artifact.data is not None else "text/plain"
    href = artifact_url(session.key, name, artifact.row.version)
    if (pages := await _pages(request, content, href)) is not None:
        return pages
    is_download = request.query_params.get("download") is not None
    return _inert(content, "" if is_download else mime or "", services.view.text(name))


async def tab(request: Request) -> Response:
    """Show the Files tab, as of `?event=`."""
    services, session = await session_of(request)
    params = request.query_params
    at = await stored_event(services, session, params.get("at"))
    row = await stored_event(services, session, params.get("event")) or at
    query = PageQuery(
        at=at,
        file=params.get("file") or None,
        version=whole_number(params.get("version")),
        against=whole_number(params.get("with")),
    )
    return services.render.page(await artifacts_panel(services, session, row, query))


async def upload(request: Request) -> Response:
    """Save the file in the form as a new version; `?for=user` saves it for all sessions of the
    user."""
    services, session = await session_of(request)
    limit = _LARGEST + 10_000  # the form's overhead
    file = await form_file(request, "file", progress=UNWATCHED, limit=limit)
    try:
        data = await file.read()
    finally:
        await file.close()
    base = (file.filename or "").replace("\\", "/").rpartition("/")[2]
    name = f"user:{base}" if request.query_params.get("for") == "user" else base
    content_type = (file.content_type or "").partition(";")[0]
    guess = mimetypes.guess_type(base)[0]
    mime = guess if content_type in {"", "application/octet-stream"} and guess else content_type
    await services.journal.artifacts.save(
        session.app, session.user, session.id, name, mime=mime or None, data=data
    )
    services.bus.publish(session.key, ArtifactsChanged(name))
    return _to_tab(request, session.key, name)


async def delete(request: Request) -> Response:
    """Delete all versions of the file that the form names."""
    services, session = await session_of(request)
    name = str((await read_form(request)).get("name") or "")
    if not await services.journal.artifacts.delete(session.app, session.user, session.id, name):
        raise NotFound("there is no such artifact; it may have been deleted already")
    services.bus.publish(session.key, ArtifactsChanged(name))
    return _to_tab(request, session.key)


def _to_tab(request: Request, session: int, file: str | None = None) -> Response:
    """Redirect to the tab with one of the files, keeping the view."""
    view = view_of(request.query_params.get("view"))
    url = session_url(session, tab="artifacts", file=file, view=view)
    return RedirectResponse(url, status_code=303)


async def of_event(request: Request) -> Response:
    """Serve the `inlineData` at `?path=` in an event."""
    services, session = await session_of(request)
    row = await stored_event(services, session, request.path_params["number"])
    body = await services.journal.events.body(session.key, row.number) if row else None
    path = path_in(request)
    file = inline_file(body[1], path) if body else None
    return await file_answer(
        request, file, event_file_url(session.key, request.path_params["number"], path)
    )


def path_in(request: Request) -> Path:
    """Return the path in `?path=`. Raises BadRequest."""
    try:
        return path_of(request.query_params.get("path") or "")
    except ValueError as error:
        raise BadRequest(str(error)) from error


async def file_answer(request: Request, file: InlineFile | None, href: str) -> Response:
    """Serve a file at the URL `href`, or pages of it. Raises NotFound without a file."""
    if file is None:
        raise NotFound("there is no such file here")
    if (pages := await _pages(request, file.content, href)) is not None:
        return pages
    name = services_of(request).view.text(file.name)
    return _inert(file.content, file.mime, name)


async def _pages(request: Request, content: bytes, href: str) -> Response | None:
    """Answer `?page=` with an image of a page of the PDF at `href`, `?pages=` with a fragment of
    all pages; return None for other requests.

    Raises NotFound if there is no such page.
    """
    query = request.query_params
    if not can_draw() or not ("page" in query or "pages" in query):
        return None
    if "pages" in query:
        return services_of(request).render.page(await _all_pages(content, href))
    try:
        drawing = await draw(content, whole_number(query["page"]) or 0)
    except UnreadablePdf as error:
        raise NotFound(str(error)) from error
    return _inert(drawing.picture, "image/png", f"page {query['page']}.png")


async def _all_pages(content: bytes, href: str) -> PdfPages:
    try:
        count = (await draw(content, 1)).pages
    except UnreadablePdf as error:
        return PdfPages(problem=str(error))
    pages = tuple(pdf_page_url(href, number) for number in range(1, min(count, _PAGES) + 1))
    more = f"{plural(count - _PAGES, 'more page')}: download the file."
    return PdfPages(plural(count, "page"), pages, more if count > _PAGES else "")


def _inert(content: bytes, mime: str, name: str) -> Response:
    mime = media_type(mime)
    inline = mime in OPENS_IN_BROWSER and is_true_type(mime, content)
    content_type = mime if inline else "application/octet-stream"
    charset = "; charset=utf-8" if content_type == "text/plain" else ""
    return Response(
        content,
        headers={
            "Content-Type": f"{content_type}{charset}",
            "Content-Disposition": _disposition(name, inline=inline),
            "Content-Security-Policy": _SANDBOX,
            "Accept-Ranges": "bytes",
        },
    )


def _disposition(name: str, *, inline: bool) -> str:
    """Return the header with a plain name for old clients and the full name encoded (RFC 6266)."""
    base = name.removeprefix("user:").replace("\\", "/").rpartition("/")[2] or "artifact"
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._- ") else "_" for c in base)
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{plain[:100]}\"; filename*=UTF-8''{quote(base[:100], safe='')}"
