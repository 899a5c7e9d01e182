"""Answers with static files (R25): from memory, for a browser to keep for good."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.web.assets import STATIC_PREFIX, AssetNotFound, Assets

STATIC_PATH: Final = STATIC_PREFIX + "{path:path}"
ICON_PATH: Final = "/favicon.ico"
"""What browsers ask for beside answers that are no pages, such as JSON, and so name no icon."""

_FOR_GOOD: Final = "public, max-age=31536000, immutable"
_MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""Not the system's own table, which some programs on Windows spoil."""


class StaticFiles:
    """The endpoints of `STATIC_PATH` and `ICON_PATH`."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets

    async def show(self, request: Request) -> Response:
        """The file; under an address of another version, the way to this server's own."""
        path, current = self._assets.place(request.path_params["path"])
        try:
            if not current:
                return RedirectResponse(self._assets.url(path))
            content = self._assets.read(path)
        except AssetNotFound as error:
            raise HTTPException(404) from error
        kind = _MEDIA_TYPES.get(PurePosixPath(path).suffix, "text/plain")
        return Response(content, media_type=kind, headers={"Cache-Control": _FOR_GOOD})

    async def icon(self, request: Request) -> Response:
        """The way to the icon that the pages name."""
        return RedirectResponse(self._assets.url("img/favicon.svg"))
