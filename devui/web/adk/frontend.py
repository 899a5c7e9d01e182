"""Serves google-adk's stock front end at `/dev-ui/`, behind this server's guard (adk-web 1.2).

The files come from the installed google-adk package. The CSP of its pages allows only what its
build needs: inline styles and one inline handler, WebAssembly for graphs, and fonts from Google's
server, which `adk web` loads, too.
"""

import asyncio
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response

from devui.web.adk.answers import AdkFrontEndJson, AdkLogoJson
from devui.web.errors import NotFound
from devui.web.operation import operation
from devui.web.services import services_of

HOME: Final = "/dev-ui/"

_LONGEST: Final = 200
"""The maximum length of a path, in characters."""
_HANDLER: Final = "this.media='all'"
"""The inline handler that applies the stylesheet once it is loaded; Angular adds it to the page."""
_POLICY: Final = (
    "default-src 'none';"
    " script-src 'self' 'wasm-unsafe-eval' 'unsafe-hashes'"
    f" 'sha256-{b64encode(sha256(_HANDLER.encode()).digest()).decode()}';"
    " style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; media-src 'self' data: blob:;"
    " font-src 'self' data: https://fonts.gstatic.com; connect-src 'self' data: blob:;"
    " worker-src 'self' blob:; frame-src 'self' data: blob:; form-action 'self';"
    " base-uri 'self'; object-src 'none'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    # An agent's sign-in opens a window, which notifies this page when it is done.
    "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
}
_MEDIA_TYPES: Final = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}


@operation()
async def home(request: Request) -> Response:
    """Redirect to the front end at `/dev-ui/`."""
    _folder(request)
    return RedirectResponse(request.scope.get("root_path", "") + HOME)


@operation()
async def file(request: Request) -> Response:
    """Get a file of google-adk's front end, or its page for a folder.

    Only with `--adk-web`; 404 without.
    """
    folder = _folder(request)
    path = request.path_params["path"]
    if "\0" in path or len(path) > _LONGEST:
        raise NotFound("there is no such file")
    target = (folder / (path or "index.html")).resolve()
    if not (target.is_relative_to(folder) and await asyncio.to_thread(target.is_file)):
        if target.suffix == ".css":  # the page names a theme that the package lacks
            return Response("", media_type="text/css")
        raise NotFound("Not Found")
    kind = _MEDIA_TYPES.get(target.suffix)
    return FileResponse(target, media_type=kind, headers=_HEADERS)


@operation(AdkFrontEndJson)
async def runtime_config(request: Request) -> Response:
    """Get the front end's configuration, with reporting switched off."""
    _folder(request)
    prefix = request.scope.get("root_path", "")
    return JSONResponse({"backendUrl": prefix, "telemetry": False})


@operation(AdkLogoJson)
async def logo(request: Request) -> Response:
    """Get the front end's logo: none."""
    _folder(request)
    return JSONResponse({"logo_text": None, "logo_image_url": None})


def _folder(request: Request) -> Path:
    folder = services_of(request).settings.adk_web
    if folder is None:
        raise NotFound("start devui with --adk-web to use google-adk's front end here")
    return folder.resolve()
