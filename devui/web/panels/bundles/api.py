"""Sessions as files over HTTP: the preview of an export, the export, the import."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import Any, Final, Literal, NotRequired
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Receive, Scope, Send
from typing_extensions import TypedDict

from devui.debugger.background.jobs import Job, JobStopped, Progress
from devui.debugger.bundles.exchange import Exchange, ExportOptions, Finding
from devui.debugger.bundles.for_adk import FORMATS, adk_session
from devui.debugger.bundles.for_eval import eval_set
from devui.debugger.bundles.importing import ImportOptions
from devui.store.rows import SessionRow
from devui.web.errors import BadRequest
from devui.web.json_answers import answer
from devui.web.lookup import session_of
from devui.web.operation import Query, Refusal, operation
from devui.web.panels.bundles.html import html
from devui.web.panels.bundles.imports import take_file
from devui.web.panels.jobs.api import wanted_id
from devui.web.security.redaction import UNTOUCHED
from devui.web.services import Services, services_of
from devui.web.sse import STALLED
from devui.web.uploads import body_into, size_of, spool

_log = logging.getLogger(__name__)
_FORMATS: Final[Mapping[str, str]] = {
    "json": "application/json",
    "html": "text/html; charset=utf-8",
    "adk": "application/json",
    "adk-web": "application/json",
    "eval-set": "application/json",
}
_ENDINGS: Final = {"adk": "adk.json", "adk-web": "adk-web.json", "eval-set": "evalset.json"}
_NAMED: Final = 60
"""The maximum length of a file's name, without its extension."""


class BundleJson(TypedDict):
    """A session as a file (docs/guide/bundles.md)."""

    format: Literal["devui.session"]
    version: int
    app: str
    user: str
    id: str
    title: str | None
    created: float
    updated: float
    forked: list[dict[str, Any]]
    """Where it was forked: `id`, `title`, `number`, `reason`, `note`, `invocation`, `created`."""
    forks: list[dict[str, Any]]
    """Its forks, with the same members."""
    tags: NotRequired[list[str]]
    """Absent for none."""
    records: list[dict[str, Any]]
    count: int
    redacted: int
    """How many texts were left out."""


class ImportedSessionJson(TypedDict):
    """The imported session."""

    key: int
    id: str
    app: str
    user: str
    title: str | None
    events: int
    readOnly: NotRequired[bool]
    """True for a bundle, unless it was imported with `continue`; false for a session's JSON, which
    becomes writable."""
    unknownMembers: NotRequired[int]
    """How many members of the file are unknown; absent for none."""


class FindingJson(TypedDict):
    """Something that an export leaves out."""

    kind: str
    """What was left out, in words."""
    hint: str
    """Its first characters, so that you recognize it."""
    count: int
    places: list[str]
    """The first few."""


class PreviewJson(TypedDict):
    """What an export would leave out."""

    findings: list[FindingJson]
    keys: list[str]
    """Every state key that the session ever saw."""


_WISHES: Final = {
    "keys": Query(list[str], "State keys whose values are left out, with their prefixes"),
    "secrets": Query(Literal["keep"], "`keep` includes secrets"),
}


@operation(
    BundleJson,
    query={
        "format": Query(
            Literal["json", "html", "adk", "adk-web", "eval-set"],
            "A bundle, a page, google-adk's Session, or a file for `adk web` or `adk eval`",
        ),
        **_WISHES,
    },
    refusals=(400,),
)
async def export(request: Request) -> Response:
    """Export a session as a file.

    The guide explains [the formats and what is left out](#notes-and-files-of-sessions).
    """
    services, session = await session_of(request)
    options = export_options(request)
    kind = request.query_params.get("format", "json")
    if kind not in _FORMATS:
        raise BadRequest(f"format must be one of {', '.join(_FORMATS)}")
    name = session.title or session.id
    label = name if options.keep_secrets else services.view.text(name)
    if options.keep_secrets:
        _log.warning("session %s was exported with its secrets", session.key)
    reveal_headers = {UNTOUCHED.decode(): "yes"} if options.keep_secrets else {}
    ending = _ENDINGS.get(kind, f"devui.{kind}")
    headers = reveal_headers | {"Content-Disposition": disposition(session, label, ending)}
    job = services.jobs.begin("export", label, session=session.key, job_id=wanted_id(request))

    def pieces(progress: Progress) -> AsyncIterator[str]:
        return _pieces(services, session.key, options, kind, progress)

    return Download(job, pieces, media_type=_FORMATS[kind], headers=headers)


@operation(PreviewJson, query=_WISHES, refusals=(400,))
async def preview(request: Request) -> Response:
    """Preview what an export leaves out."""
    services, session = await session_of(request)
    result = await exchange(services).preview(session.key, export_options(request))
    return answer(
        {"findings": [_finding(each) for each in result.findings], "keys": list(result.keys)}
    )


@operation(
    ImportedSessionJson,
    status=201,
    body=BundleJson,
    query={
        "app": Query(str, "The app to import into, instead of its own"),
        "ids": Query(Literal["keep", "new"], "Whether the session keeps its id from the file"),
        "continue": Query(Literal["yes"], "Make the session writable instead of read-only"),
    },
    refusals=(
        Refusal(409, "The id is taken"),
        Refusal(422, "The file is not a valid bundle; names the line and the reason"),
    ),
)
async def take(request: Request) -> Response:
    """Import a bundle as a read-only session.

    Also accepts a session's JSON. The guide explains [imports](#notes-and-files-of-sessions).
    """
    services = services_of(request)
    ids = ids_of(request)
    options = ImportOptions(
        app_of(services, request), keeps_id=ids == "keep", goes_on=goes_on(request)
    )
    with (
        spool(services.journal.path) as file,
        services.jobs.begin("import", "a session", job_id=wanted_id(request)) as job,
    ):
        if size := size_of(request):
            job.begin(3 * size)  # the file is received, checked, and written to the journal
        await body_into(request, file, progress=job)
        session = await take_file(services, file, options, job, new_id=ids == "new")
    members: dict[str, Any] = {
        "key": session.key,
        "id": session.id,
        "app": session.app,
        "user": session.user,
    }
    aside = await services.journal.imports.unknown_members(session.key)
    unknown = {"unknownMembers": aside} if aside else {}
    read_only = await services.journal.imports.get(session.key) is not None
    members |= {"title": session.title, "events": session.events, "readOnly": read_only}
    return answer({**members, **unknown}, status=201)


def exchange(services: Services) -> Exchange:
    """Return the object that writes and reads bundles."""
    return Exchange(services.journal, services.settings)


def export_options(request: Request) -> ExportOptions:
    """Return what the query says to leave out or keep. Raises BadRequest."""
    secrets = request.query_params.get("secrets", "")
    if secrets not in {"", "keep"}:
        raise BadRequest("set secrets to `keep`, or omit it")
    keys = frozenset(key for key in request.query_params.getlist("keys") if key)
    return ExportOptions(keep_secrets=secrets == "keep", keys=keys)


def app_of(services: Services, request: Request) -> str | None:
    """Return the app to import into, if the query names one. Raises UnknownApp."""
    app = request.query_params.get("app") or None
    if app is not None:
        services.apps.require(app)
    return app


def ids_of(request: Request) -> str:
    """Return `new` or `keep` if the query says which ids imported sessions get; else "". Raises
    BadRequest."""
    ids = request.query_params.get("ids", "")
    if ids not in {"", "keep", "new"}:
        raise BadRequest("set ids to keep or new, or omit it")
    return ids


def goes_on(request: Request) -> bool:
    """Return whether the query asks for a session that can be continued. Raises BadRequest."""
    value = request.query_params.get("continue", "")
    if value not in {"", "yes"}:
        raise BadRequest("set continue to `yes`, or omit it")
    return value == "yes"


def disposition(session: SessionRow, title: str, ending: str) -> str:
    """Return the header that names the downloaded file after the session, in plain characters."""
    return attachment(f"{file_name(session, title)}.{ending}")


def attachment(name: str) -> str:
    """Return the header that makes a browser save the response under a safe name."""
    latin = "".join(c if c.isascii() else "-" for c in name)
    return f"attachment; filename=\"{latin}\"; filename*=UTF-8''{quote(name)}"


def file_name(session: SessionRow, title: str) -> str:
    """Return the file's name without an extension; the app's name may have letters of any
    language."""
    plain = "".join(c if c.isascii() else "-" for c in safe_name(title))
    return f"{safe_name(session.app)}-{plain.strip('.-') or session.key}"[:_NAMED]


def safe_name(text: str) -> str:
    """Return the text with everything but letters, digits and `._-` replaced: no path, quote or
    line break."""
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in text)


class Download(StreamingResponse):
    """A file that is generated while it is sent.

    It is cut off if its job is stopped, or if the client takes nothing for `STALLED` seconds, so
    that the client sees an incomplete download. When the client disconnects, the job is stopped
    rather than cancelled, so that it closes what it has open in order.
    """

    def __init__(
        self,
        job: AbstractContextManager[Job],
        pieces: Callable[[Progress], AsyncIterator[str] | AsyncIterator[bytes]],
        *,
        media_type: str,
        headers: Mapping[str, str],
    ) -> None:
        super().__init__((), media_type=media_type, headers=headers)
        self._job = job
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with suppress(JobStopped), self._job as job:
            self.body_iterator = self._pieces(job)

            async def send_in_time(message: Message) -> None:
                try:
                    async with asyncio.timeout(STALLED):
                        await send(message)
                except TimeoutError as error:
                    raise JobStopped from error

            listening = asyncio.create_task(self._stop_at_disconnect(job, receive))
            try:
                await self.stream_response(send_in_time)
            finally:
                listening.cancel()

    async def _stop_at_disconnect(self, job: Job, receive: Receive) -> None:
        await self.listen_for_disconnect(receive)
        job.stop()


async def _pieces(
    services: Services, session: int, options: ExportOptions, file_format: str, progress: Progress
) -> AsyncIterator[str]:
    """Yield the pieces of the file, in order."""
    if file_format == "html":
        pieces = html(services, session, options, progress)
    else:
        progress.begin(await exchange(services).size(session))
        pieces = exchange(services).lines(session, options, progress)
    for form in FORMATS:
        if file_format == form:
            pieces = adk_session(pieces, form)
    if file_format == "eval-set":
        pieces = eval_set(pieces)
    async for piece in pieces:
        yield piece


def _finding(finding: Finding) -> FindingJson:
    return {
        "kind": finding.kind,
        "hint": finding.hint,
        "count": finding.count,
        "places": finding.places or [],
    }
