"""Reads the folders of google-adk's FileArtifactService."""

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from devui.debugger.adk_imports.sources import Head, Notes, States

_LARGEST: Final = 45_000_000
"""The largest file, in bytes: a bundle has each file on one line."""
_METADATA: Final = 1_000_000
"""The largest metadata of a version, in bytes."""
_VERSIONS: Final = "versions"
_USER: Final = "user:"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a file."""

    name: str
    number: int
    file: Path
    mime: str | None
    """None for a text."""
    metadata: dict[str, Any] | None
    created: float

    def record(self, notes: Notes) -> dict[str, Any] | None:
        """Return the version as a bundle's record; None if it can't be imported."""
        try:
            size = self.file.stat().st_size
            if size > _LARGEST:
                notes.add(f"{self.file}: left out because it is larger than {_LARGEST:,} bytes")
                return None
            data = self.file.read_bytes()
            text = data.decode() if self.mime is None else None
        except (OSError, UnicodeDecodeError) as error:
            notes.add(f"{self.file}: left out because it can't be read: {error}")
            return None
        content = {"data": base64.b64encode(data).decode()} if text is None else {"text": text}
        return {
            "type": "artifact",
            "name": self.name,
            "version": self.number,
            "mime": self.mime,
            "metadata": self.metadata,
            "created": self.created,
            **content,
        }


class ArtifactFolder:
    """The files of sessions and users in the root folder of a FileArtifactService.

    Older versions of google-adk left the app's name out of the path: such files belong to `app`,
    whose folder contains them.
    """

    def __init__(self, root: Path, app: str | None = None) -> None:
        self._root = root
        self._app = app

    @property
    def place(self) -> str:
        """The folder, for display."""
        return str(self._root)

    def heads(self) -> list[Head]:
        """Return the sessions that have files, without events, for a folder without a database."""
        heads = [
            Head(app, user.name, session.name, min(times), max(times), events=0)
            for app, users in self._apps()
            for user in _folders(users)
            for session in _folders(user / "sessions")
            if (times := [each.created for each in self._below(session / "artifacts", "")])
        ]
        return sorted(heads, key=lambda head: head.updated)

    def states(self, _: Head, __: Notes) -> States:
        """Return empty states: only files are stored here."""
        return States()

    def events(self, _: Head, __: Notes) -> Iterator[dict[str, Any]]:
        """Yield nothing: only files are stored here."""
        yield from ()

    def versions(self, head: Head) -> list[Version]:
        """Return all versions of the files of a session and of its user, oldest first."""
        versions = {}
        for base in (
            self._root / "users" / head.user,
            self._root / "apps" / head.app / "users" / head.user,
        ):
            own = self._below(base / "sessions" / head.id / "artifacts", "")
            for each in (*own, *self._below(base / "artifacts", _USER)):
                versions[each.name, each.number] = each
        return sorted(versions.values(), key=lambda each: (each.created, each.number))

    def _apps(self) -> Iterator[tuple[str, Path]]:
        if (self._root / "users").is_dir() and self._app:
            yield self._app, self._root / "users"
        apps = self._root / "apps"
        for folder, names, _ in os.walk(apps):
            if "users" in names:
                yield str(Path(folder).relative_to(apps)), Path(folder) / "users"
                names.clear()

    def _below(self, scope: Path, prefix: str) -> Iterator[Version]:
        for folder, names, _ in os.walk(scope):
            if _VERSIONS not in names:
                continue
            names.remove(_VERSIONS)
            here = Path(folder)
            for version in _folders(here / _VERSIONS):
                file = version / here.name
                if version.name.isdecimal() and file.is_file() and self._inside(file):
                    yield _version(file, version, f"{here.relative_to(scope).as_posix()}", prefix)

    def _inside(self, file: Path) -> bool:
        """Whether the file is inside this folder; a link may lead anywhere."""
        return file.resolve().is_relative_to(self._root.resolve())


def _version(file: Path, folder: Path, name: str, prefix: str) -> Version:
    metadata = _metadata(folder / "metadata.json")
    file_name = metadata.get("fileName")
    name = file_name if isinstance(file_name, str) and file_name else name
    mime, custom, created = (
        metadata.get(key) for key in ("mimeType", "customMetadata", "createTime")
    )
    return Version(
        name=name if name.startswith(prefix) else f"{prefix}{name}",
        number=int(folder.name),
        file=file,
        mime=mime if isinstance(mime, str) else None,
        metadata=custom if isinstance(custom, dict) and custom else None,
        created=float(created) if isinstance(created, int | float) else file.stat().st_mtime,
    )


def _metadata(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            metadata = json.loads(stream.read(_METADATA))
    except (OSError, ValueError, RecursionError):
        return {}
    return metadata if isinstance(metadata, dict) else {}


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(each for each in folder.iterdir() if each.is_dir() and not each.is_symlink())
    except OSError:
        return []
