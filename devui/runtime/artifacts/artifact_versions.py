"""The versions of one file on the disk, each written whole or not at all (adk-runtime 10.1)."""

import logging
import os
import shutil
import time
from pathlib import Path

from google.genai import types
from pydantic import ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from devui.runtime.artifacts.artifact_folders import METADATA, VERSIONS
from devui.runtime.artifacts.base_artifact_service import ArtifactVersion

logger = logging.getLogger(__name__)

_ABANDONED = 3600.0
"""Seconds after which nobody is taken to write a version any more."""


class FileArtifactVersion(ArtifactVersion):
    """What metadata.json holds; a text has no MIME type."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, defer_build=True)

    file_name: str
    """The name as it was given, `user:` included."""
    display_name: str | None = None


def numbers(folder: Path) -> list[int]:
    """The numbers of the whole versions, ascending."""
    try:
        entries = list((folder / VERSIONS).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(int(e.name) for e in entries if e.name.isascii() and e.name.isdecimal())


def uri(folder: Path, version: int) -> str:
    """The `file://` address of a version's payload."""
    return (folder / VERSIONS / str(version) / folder.name).as_uri()


def write(folder: Path, part: types.Part, about: FileArtifactVersion) -> int:
    """Store the next version of a file; it is on the disk when this returns.

    Everything is written into a folder that readers overlook, and renamed at the end. That
    folder also reserves the number, among all threads and processes.
    """
    versions = folder / VERSIONS
    versions.mkdir(parents=True, exist_ok=True)
    _sweep(versions)
    pending = _reserve(versions)
    about.version = int(pending.name.removeprefix(".").removesuffix(".pending"))
    about.canonical_uri = uri(folder, about.version)
    try:
        _write_file(pending / folder.name, _payload(part))
        text = about.model_dump_json(by_alias=True, exclude_none=True)
        _write_file(pending / METADATA, text.encode())
        pending.rename(versions / str(about.version))
    except OSError:
        shutil.rmtree(pending, ignore_errors=True)
        raise
    _sync(versions)
    return about.version


def metadata(folder: Path, version: int) -> FileArtifactVersion | None:
    """What is known about a version; None if it has no readable metadata."""
    path = folder / VERSIONS / str(version) / METADATA
    try:
        return FileArtifactVersion.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValidationError as error:
        logger.warning("%s is damaged and was passed over: %s", path, error)
        return None


def read(folder: Path, version: int) -> types.Part | None:
    """The content of a version; None if it is not there."""
    try:
        data = (folder / VERSIONS / str(version) / folder.name).read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    about = metadata(folder, version)
    if about is None or about.mime_type is None:
        return types.Part(text=data.decode(errors="replace"))
    blob = types.Blob(data=data, mime_type=about.mime_type, display_name=about.display_name)
    return types.Part(inline_data=blob)


def remove(folder: Path, scope: Path) -> None:
    """Delete all versions, and the folders up to `scope` that are empty then.

    Files below (`doc/more` beside `doc`) stay.
    """
    shutil.rmtree(folder / VERSIONS, ignore_errors=True)
    while folder != scope and folder.is_relative_to(scope):
        try:
            folder.rmdir()
        except OSError:  # not empty, or gone already
            return
        folder = folder.parent


def below(scope: Path) -> list[Path]:
    """The folders of all files in a scope."""
    found = []
    for path, folders, _ in os.walk(scope):
        if VERSIONS in folders:
            folders.remove(VERSIONS)
            found.append(Path(path))
    return found


def _reserve(versions: Path) -> Path:
    known = numbers(versions.parent)
    version = known[-1] + 1 if known else 0
    while True:
        pending = versions / f".{version}.pending"
        try:
            pending.mkdir()
        except FileExistsError:
            version += 1
            continue
        if not (versions / str(version)).exists():
            return pending
        pending.rmdir()
        version += 1


def _sweep(versions: Path) -> None:
    """Remove what processes have left that died while they were writing."""
    for pending in versions.glob(".*.pending"):
        try:
            written = max(path.stat().st_mtime for path in (pending, *pending.iterdir()))
        except OSError:  # another process has just ended it
            continue
        if time.time() - written > _ABANDONED:
            shutil.rmtree(pending, ignore_errors=True)


def _payload(part: types.Part) -> bytes:
    if part.inline_data is not None:
        return part.inline_data.data or b""
    return (part.text or "").encode()


def _write_file(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Let a rename reach the disk; Windows cannot open folders and needs no such thing."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
