"""The route of the buttons that open a place in code in an editor."""

import asyncio
import re
import subprocess
from pathlib import Path
from threading import Thread
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from devui.debugger.apps.apps import AppFolder
from devui.web.errors import BadRequest, NotFound, Unprocessable
from devui.web.panels.editor.editors import SCHEMES
from devui.web.security.intake import read_form
from devui.web.services import services_of

_COOKIE: Final = "editor"
_ADDRESS: Final = "X-Devui-Address"
_PLACE: Final = re.compile(r"(?P<file>[^\0]+?):(?P<line>[1-9]\d{0,8})(?!\d)")


async def open_place(request: Request) -> Response:
    """Open the `place` in the form, such as `travel/agent.py:12`.

    The file must be below the agents' folder: whatever a page shows, nothing else is opened. The
    command gets the path as one argument, without a shell. If this browser has chosen an editor
    that opens URLs, the response contains the URL for the page's script.
    """
    services = services_of(request)
    editor = services.editor
    scheme = SCHEMES.get(request.cookies.get(_COOKIE, "")) if services.chooses_editor else None
    if scheme is not None:
        address = scheme.address(*await _place(request))
        return Response(status_code=204, headers={_ADDRESS: address})
    if editor is None:
        raise NotFound(
            "no editor was found: choose one on the page, or set DEVUI_EDITOR and restart devui"
        )
    try:
        await asyncio.to_thread(_start, editor.arguments(*await _place(request)))
    except OSError as error:
        raise Unprocessable(
            f"{editor.name} didn't start: {error.strerror}. Check DEVUI_EDITOR and restart devui"
        ) from error
    return Response(status_code=204)


async def _place(request: Request) -> tuple[Path, int]:
    text = str((await read_form(request)).get("place") or "")
    return await asyncio.to_thread(_resolve, text, services_of(request).apps)


def _start(command: list[str]) -> None:
    """Start a program that outlives the server. Raises OSError."""
    process = subprocess.Popen(  # noqa: S603  (the command of whoever started the server)
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    Thread(target=process.wait, daemon=True).start()  # so that it leaves no zombie


def _resolve(place: str, apps: AppFolder) -> tuple[Path, int]:
    """Return the file and line of a place, which is relative to the agents' folder. Raises
    BadRequest and NotFound."""
    match = _PLACE.match(place)
    if match is None:
        raise BadRequest("give the place as FILE:LINE")
    folder = apps.path.resolve()
    file = (folder / match["file"]).resolve()
    if not file.is_relative_to(folder / (apps.only or "")) or not file.is_file():
        raise NotFound(f"{match['file']} isn't a file below the agents' folder")
    return file, int(match["line"])
