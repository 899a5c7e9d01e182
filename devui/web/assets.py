"""The templates and static files: where they are, and their versioned URLs.

Both folders are at the top of a checkout and inside the package of an installed wheel. The package
is searched first, then its parent. A folder counts only if it contains a known file of ours: the
parent of an installed package is `site-packages`, where a folder of that name may belong to any
other package.

A server serves the static files that existed when it started. Every URL begins with a hash of all
of them, so browsers can cache files forever and no page ever mixes the files of two versions. A
module is served as one file, together with everything it imports; a page for a frame is served with
its scripts in it.
"""

import asyncio
import gzip
import os
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final, Self
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from devui.web.joining import is_module, join_modules
from devui.web.lazy_modules import LazyModule

STATIC_PREFIX: Final = "/static/"
"""The path below which static files are served."""

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_HASH_CHARACTERS: Final = 16
_MAX_COMPRESSED: Final = 64
"""How many compressed files to cache; a combination such as `css/a+b.css` counts as one."""
_GZIP: Final = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
_isolation: Final = LazyModule("devui.web.isolation")
_join_page = _isolation.call("join_page")
_headers_of_page = _isolation.call("script_page_headers")
_HASH: Final = re.compile(rf"[0-9a-f]{{{_HASH_CHARACTERS}}}")


class AssetsMissing(RuntimeError):
    """A folder that is part of devui is missing: the installation is broken."""


class AssetNotFound(LookupError):
    """A template or browser requested a static file that does not exist."""


def find_folder(name: str, landmark: str, package: Path = _PACKAGE) -> Path:
    """Return the folder `name` that contains `landmark`, in the package or beside it.

    Raises:
        AssetsMissing: The folder is in neither place; the message names both.
    """
    places = (package / name, package.parent / name)
    for place in places:
        if (place / landmark).is_file():
            return place
    folders = " and ".join(str(place) for place in places)
    raise AssetsMissing(f"no {landmark} in {folders}; reinstall devui.")


class Assets:
    """The templates folder, and the static files as they were when this object was created."""

    def __init__(self, templates: Path, static: Path) -> None:
        self.templates = templates
        self._files = dict(_files(static))
        self.version = _version(self._files)
        """The hash of all static files."""

    def place(self, address: str) -> tuple[str, bool]:
        """Split `version/path` into the path and whether the version is the current one.

        A path without a version counts as outdated.
        """
        version, _, path = address.partition("/")
        return (path if _HASH.fullmatch(version) else address), version == self.version

    @classmethod
    def find(cls) -> Self:
        """Locate both folders.

        Raises:
            AssetsMissing: The installation is incomplete.
        """
        return cls(find_folder("templates", "base.html"), find_folder("static", "css/base.css"))

    def read(self, path: str) -> bytes:
        """Return a file's content; `css/base+chat.css` is two files concatenated in this order.

        Raises:
            AssetNotFound: There is no such file, or one is named twice.
            CannotJoin: The file is a module that can't be joined with its imports.
        """
        return b"\n".join(self._whole(each) for each in self._paths_of(path))

    @lru_cache(maxsize=_MAX_COMPRESSED)  # noqa: B019  (as with `_whole`)
    def gzip_of(self, path: str) -> bytes:
        """Return what `read` returns, compressed with gzip; raises the same errors."""
        return gzip.compress(self.read(path), mtime=0)

    def _paths_of(self, path: str) -> list[str]:
        """Return the paths of the files that `path` combines."""
        folder, slash, file = path.rpartition("/")
        stem, dot, ending = file.rpartition(".")
        paths = [f"{folder}{slash}{name}{dot}{ending}" for name in stem.split("+")]
        missing = [each for each in paths if each not in self._files]
        if missing or len(set(paths)) < len(paths):
            raise AssetNotFound(f"no static file {(missing or [path])[0]!r}")
        return paths

    @cache  # noqa: B019  (the one object of this class lives as long as the server)
    def _whole(self, path: str) -> bytes:
        content = self._files[path]
        try:
            if path.endswith(".html"):
                page: str = _join_page(path, self._files)
                return page.encode()
            if path.endswith(".js") and is_module(content.decode()):
                return join_modules(path, self._files).encode()
        except KeyError as missing:
            raise AssetNotFound(f"no static file {missing}, which {path} imports") from missing
        return content

    @lru_cache(maxsize=_MAX_COMPRESSED)  # noqa: B019  (as with `_whole`)
    def page_headers(self, path: str) -> Mapping[str, str]:
        """Return the headers of a page for a frame; raises the same errors as `read`."""
        headers: Mapping[str, str] = _headers_of_page(self.read(path).decode())
        return headers

    def url(self, path: str) -> str:
        """Return the URL of a static file, such as `/static/0f3c…/css/base.css`.

        Raises:
            AssetNotFound: There is no such file.
        """
        self._paths_of(path)
        return f"{STATIC_PREFIX}{self.version}/{quote(path, safe='/+')}"

    def styles(self, *names: str) -> str:
        """Return the URL of several style sheets combined into one.

        Raises:
            AssetNotFound: One of them doesn't exist.
        """
        return self.url(f"css/{'+'.join(names)}.css")


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the path and content of every file, skipping symlinks, which may lead outside (R25)."""
    for here, _, names in os.walk(folder):
        for file in (Path(here, name) for name in names):
            if not file.is_symlink():
                yield file.relative_to(folder).as_posix(), file.read_bytes()


def _version(files: Mapping[str, bytes]) -> str:
    whole = sha256()
    for path, content in sorted(files.items()):
        whole.update(f"{path}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()[:_HASH_CHARACTERS]


STATIC_PATH: Final = STATIC_PREFIX + "{path:path}"
ICON_PATH: Final = "/favicon.ico"
"""Browsers request this path if a response names no icon, as with JSON."""

_CACHED: Final[Mapping[str, str]] = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Vary": "Accept-Encoding",
}
_MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
"""Not taken from the system's table, which some Windows programs corrupt."""


class StaticFiles:
    """The endpoints of `STATIC_PATH` and `ICON_PATH`."""

    def __init__(self, assets: Assets) -> None:
        self._assets = assets

    async def show(self, request: Request) -> Response:
        """Return the file, or redirect to the current version if the URL names another one."""
        path, current = self._assets.place(request.path_params["path"])
        try:
            if not current:
                return RedirectResponse(self._assets.url(path))
            takes_gzip = bool(_GZIP.search(request.headers.get("accept-encoding", "")))
            content, headers = await self._content(path, takes_gzip=takes_gzip)
        except AssetNotFound as error:
            raise HTTPException(404) from error
        kind = _MEDIA_TYPES.get(PurePosixPath(path).suffix, "text/plain")
        if takes_gzip:
            headers["Content-Encoding"] = "gzip"
        return Response(content, media_type=kind, headers=headers)

    async def _content(self, path: str, *, takes_gzip: bool) -> tuple[bytes, dict[str, str]]:
        read = self._assets.gzip_of if takes_gzip else self._assets.read
        if not path.endswith(".html"):
            return read(path), {**_CACHED}
        # Such a page has megabytes of scripts: compressing them would block the event loop.
        content = await asyncio.to_thread(read, path)
        return content, {**await asyncio.to_thread(self._assets.page_headers, path), **_CACHED}

    async def icon(self, request: Request) -> Response:
        """Redirect to the icon that the pages use."""
        return RedirectResponse(self._assets.url("img/favicon.svg"))
