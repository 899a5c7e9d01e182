"""Several sessions as one file: a ZIP archive of their bundles, generated while it is sent."""

import asyncio
import zipfile
from collections.abc import AsyncIterator, Sequence
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.background.jobs import Progress
from devui.debugger.background.slices import SLICE, beside
from devui.debugger.bundles.exchange import ExportOptions
from devui.store.errors import SessionNotFound
from devui.store.rows import SessionRow
from devui.web.panels.apps.selection import selected_sessions
from devui.web.panels.bundles.api import Download, attachment, exchange, file_name, safe_name
from devui.web.security.intake import read_form
from devui.web.security.redaction import View
from devui.web.services import Services, services_of
from devui.web.text.formats import plural


async def export(request: Request) -> Response:
    """Export the sessions in the form as a ZIP archive of bundles, the same as single exports."""
    services, app = services_of(request), request.path_params["app"]
    rows = await selected_sessions(request, await read_form(request))
    job = services.jobs.begin("export", plural(len(rows), "session"))
    headers = {"Content-Disposition": attachment(f"{safe_name(app)}-sessions.zip")}

    def pieces(progress: Progress) -> AsyncIterator[bytes]:
        return _archive(services, rows, progress)

    return Download(job, pieces, media_type="application/zip", headers=headers)


class _Sink:
    """The written part of the archive that hasn't been sent yet; `zipfile` can't seek in it."""

    def __init__(self) -> None:
        self._parts = bytearray()

    def write(self, data: bytes, /) -> int:
        self._parts += data
        return len(data)

    def flush(self) -> None:
        """Do nothing: there is no buffer below this one."""

    def close(self) -> None:
        """Do nothing: no resource is open."""

    def take(self) -> bytes:
        """Return everything written since the last call."""
        data = bytes(self._parts)
        self._parts.clear()
        return data


async def _archive(
    services: Services, rows: Sequence[SessionRow], progress: Progress
) -> AsyncIterator[bytes]:
    # A compressed response can't be redacted, so each line is redacted here. The view also removes
    # credentials given in other sessions, as it does in the export of a single one.
    sink, files = _Sink(), exchange(services)
    progress.begin(sum([await files.size(row.key) for row in rows]))
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for row in rows:
            lines = files.lines(row.key, ExportOptions(), progress)
            try:
                first = await anext(lines)
            except SessionNotFound:  # deleted meanwhile
                continue
            title = services.view.text(row.title or row.id)
            with archive.open(f"{file_name(row, title)}-{row.key}.devui.json", "w") as file:
                file.write(services.view.json(first).encode())
                async for batch in _batches(lines, services.view):
                    await asyncio.to_thread(file.write, batch)
                    yield sink.take()
            yield sink.take()
    yield sink.take()


async def _batches(lines: AsyncIterator[str], view: View) -> AsyncIterator[bytes]:
    batch = bytearray()
    async for line in lines:
        batch += (await beside(line, partial(view.json, line))).encode()
        if len(batch) >= SLICE:
            yield bytes(batch)
            batch.clear()
    yield bytes(batch)
