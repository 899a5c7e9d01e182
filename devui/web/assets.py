"""The templates and static files: where they are, and the addresses that pin their content.

Both folders stand at the top of a checkout and inside the package of an installed wheel. They are
looked for in the package first and beside it second, and a folder counts only if a file of ours is
in it: the parent of an installed package is `site-packages`, where anybody's folders may lie.
"""

import os
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, Self
from urllib.parse import parse_qs, quote

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC_PREFIX: Final = "/static/"
"""Where static files are served."""

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_HASH_CHARACTERS: Final = 16
_IMMUTABLE: Final = "public, max-age=31536000, immutable"
_REVALIDATE: Final = "no-cache"


class AssetsMissing(RuntimeError):
    """A folder that comes with the program is not there: the installation is broken."""


class AssetNotFound(LookupError):
    """A template asked for a static file that does not exist."""


def find_folder(name: str, landmark: str, package: Path = _PACKAGE) -> Path:
    """Return the folder `name` that holds `landmark`, from the wheel or from the checkout.

    Raises:
        AssetsMissing: neither place has it; the message names both.
    """
    places = (package / name, package.parent / name)
    for place in places:
        if (place / landmark).is_file():
            return place
    looked = " and ".join(str(place) for place in places)
    raise AssetsMissing(f"no {landmark} in {looked}; install devui again.")


@dataclass(frozen=True, slots=True)
class Assets:
    """The two folders, and the address of each static file."""

    templates: Path
    static: Path
    _versions: dict[str, tuple[int, int, str]] = field(default_factory=dict, compare=False)
    """Path to (modified in ns, size, hash), so that an edited file gets a new address."""

    @classmethod
    def find(cls) -> Self:
        """Locate both folders.

        Raises:
            AssetsMissing: the installation is incomplete.
        """
        return cls(find_folder("templates", "base.html"), find_folder("static", "css/base.css"))

    def url(self, path: str) -> str:
        """Return the address of a static file, such as `/static/css/base.css?v=0f3c…`.

        Raises:
            AssetNotFound: there is no such file.
        """
        return f"{STATIC_PREFIX}{quote(path)}?v={self.version(path)}"

    def version(self, path: str) -> str:
        """Return the content hash of a static file.

        Raises:
            AssetNotFound: there is no such file.
        """
        file = self.static / path
        try:
            stat = file.stat()
            known = self._versions.get(path)
            if known is not None and known[:2] == (stat.st_mtime_ns, stat.st_size):
                return known[2]
            version = sha256(file.read_bytes()).hexdigest()[:_HASH_CHARACTERS]
        except OSError as error:
            raise AssetNotFound(f"no static file {path!r}: {error.strerror}") from error
        self._versions[path] = (stat.st_mtime_ns, stat.st_size, version)
        return version


class VersionedFiles(StaticFiles):
    """Static files that a browser keeps for good when asked for with the hash of their content."""

    def __init__(self, assets: Assets) -> None:
        super().__init__(directory=assets.static, follow_symlink=False)
        self._assets = assets

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Answer one request; other or missing versions are revalidated each time."""
        response = await super().get_response(path, scope)
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("v", [""])[0]
        pinned = asked and asked == self._assets.version(path.replace(os.sep, "/"))
        response.headers["cache-control"] = _IMMUTABLE if pinned else _REVALIDATE
        return response
