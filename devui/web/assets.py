"""The templates and static files: where they are, and the addresses that pin their content.

Both folders stand at the top of a checkout and inside the package of an installed wheel. They are
looked for in the package first and beside it second, and a folder counts only if a file of ours is
in it: the parent of an installed package is `site-packages`, where anybody's folders may lie.

A server serves the static files that it was started with. Every address begins with the hash of
all of them: a browser keeps what it has for good, and no page ever mixes the files of two versions.
A module comes with all that it imports, as one file.
"""

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

STATIC_PREFIX: Final = "/static/"
"""Where static files are served."""

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_HASH_CHARACTERS: Final = 16
_MAX_COMPRESSED: Final = 64
"""Files, alone and together, that are kept compressed."""
_GZIP: Final = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
_HASH: Final = re.compile(rf"[0-9a-f]{{{_HASH_CHARACTERS}}}")


class AssetsMissing(RuntimeError):
    """A folder that comes with the program is not there: the installation is broken."""


class AssetNotFound(LookupError):
    """A template or a browser asked for a static file that does not exist."""


def find_folder(name: str, landmark: str, package: Path = _PACKAGE) -> Path:
    """Return the folder `name` that holds `landmark`, from the wheel or from the checkout.

    Raises:
        AssetsMissing: neither place has it; the message names both.
    """
    places = (package / name, package.parent / name)
    for place in places:
        if (place / landmark).is_file():
            return place
    folders = " and ".join(str(place) for place in places)
    raise AssetsMissing(f"no {landmark} in {folders}; reinstall devui.")


class Assets:
    """The templates' folder, and the static files as they are when this is made."""

    def __init__(self, templates: Path, static: Path) -> None:
        self.templates = templates
        self._files = dict(_files(static))
        self.version = _version(self._files)
        """The hash of all static files."""

    def place(self, address: str) -> tuple[str, bool]:
        """Take `version/path` apart: the path, and whether it is of this version.

        A path without any version counts as one of another.
        """
        version, _, path = address.partition("/")
        return (path if _HASH.fullmatch(version) else address), version == self.version

    @classmethod
    def find(cls) -> Self:
        """Locate both folders.

        Raises:
            AssetsMissing: the installation is incomplete.
        """
        return cls(find_folder("templates", "base.html"), find_folder("static", "css/base.css"))

    def read(self, path: str) -> bytes:
        """Return a file's content; `css/base+chat.css` is two files as one, in this order.

        Raises:
            AssetNotFound: there is no such file, or one is named twice.
            CannotJoin: it is a module that cannot be one file with those that it imports.
        """
        return b"\n".join(self._whole(each) for each in self._paths_of(path))

    @lru_cache(maxsize=_MAX_COMPRESSED)  # noqa: B019  (as with `_whole`)
    def gzip_of(self, path: str) -> bytes:
        """What `read` returns, as gzip; raises what it raises."""
        return gzip.compress(self.read(path), mtime=0)

    def _paths_of(self, path: str) -> list[str]:
        """The files that a path names."""
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
        if not (path.endswith(".js") and is_module(content.decode())):
            return content
        try:
            return join_modules(path, self._files).encode()
        except KeyError as missing:
            raise AssetNotFound(f"no static file {missing}, which {path} imports") from missing

    def url(self, path: str) -> str:
        """Return the address of a static file, such as `/static/0f3c…/css/base.css`.

        Raises:
            AssetNotFound: there is no such file.
        """
        self._paths_of(path)
        return f"{STATIC_PREFIX}{self.version}/{quote(path, safe='/+')}"

    def styles(self, *names: str) -> str:
        """Return the address of several style sheets as one.

        Raises:
            AssetNotFound: there is no such style sheet.
        """
        return self.url(f"css/{'+'.join(names)}.css")


def _files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Path and content of every plain file; links lead elsewhere and are none of ours (R25)."""
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
            takes_gzip = bool(_GZIP.search(request.headers.get("accept-encoding", "")))
            content = (self._assets.gzip_of if takes_gzip else self._assets.read)(path)
        except AssetNotFound as error:
            raise HTTPException(404) from error
        kind = _MEDIA_TYPES.get(PurePosixPath(path).suffix, "text/plain")
        headers = {"Cache-Control": _FOR_GOOD, "Vary": "Accept-Encoding"}
        if takes_gzip:
            headers["Content-Encoding"] = "gzip"
        return Response(content, media_type=kind, headers=headers)

    async def icon(self, request: Request) -> Response:
        """The way to the icon that the pages name."""
        return RedirectResponse(self._assets.url("img/favicon.svg"))
