"""The templates and static files: where they are, and the addresses that pin their content.

Both folders stand at the top of a checkout and inside the package of an installed wheel. They are
looked for in the package first and beside it second, and a folder counts only if a file of ours is
in it: the parent of an installed package is `site-packages`, where anybody's folders may lie.

A server serves the static files that it was started with. Every address begins with the hash of
all of them, so that a module's `import "./rows.js"` stays within its version: a browser keeps what
it has for good, and no page ever mixes the files of two versions.
"""

import os
import re
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final, Self
from urllib.parse import quote

STATIC_PREFIX: Final = "/static/"
"""Where static files are served."""

_PACKAGE: Final = Path(__file__).resolve().parent.parent
_HASH_CHARACTERS: Final = 16
_HASH: Final = re.compile(rf"[0-9a-f]{{{_HASH_CHARACTERS}}}")
_IMPORT: Final = re.compile(rb'^import [^"]*"\./([\w/.-]+)";$', re.MULTILINE)


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
    looked = " and ".join(str(place) for place in places)
    raise AssetsMissing(f"no {landmark} in {looked}; install devui again.")


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
        """
        folder, slash, file = path.rpartition("/")
        stem, dot, ending = file.rpartition(".")
        paths = [f"{folder}{slash}{name}{dot}{ending}" for name in stem.split("+")]
        missing = [each for each in paths if each not in self._files]
        if missing or len(set(paths)) < len(paths):
            raise AssetNotFound(f"no static file {(missing or [path])[0]!r}")
        return b"\n".join(self._files[each] for each in paths)

    def url(self, path: str) -> str:
        """Return the address of a static file, such as `/static/0f3c…/css/base.css`.

        Raises:
            AssetNotFound: there is no such file.
        """
        self.read(path)
        return f"{STATIC_PREFIX}{self.version}/{quote(path, safe='/+')}"

    def styles(self, *names: str) -> str:
        """Return the address of several style sheets as one.

        Raises:
            AssetNotFound: there is no such style sheet.
        """
        return self.url(f"css/{'+'.join(names)}.css")

    @cache  # noqa: B019  (the one object of this class lives as long as the server)
    def imports(self, module: str) -> tuple[str, ...]:
        """Return the addresses of all modules that a module imports, at first or second hand.

        Raises:
            AssetNotFound: one of them does not exist.
        """
        found: dict[str, None] = {module: None}
        waiting = [module]
        while waiting:
            path = waiting.pop()
            names = (name.decode() for name in _IMPORT.findall(self.read(path)))
            fresh = [str(PurePosixPath(path).parent / name) for name in names]
            waiting += [other for other in fresh if other not in found]
            found |= dict.fromkeys(fresh)
        return tuple(self.url(other) for other in found if other != module)


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
