"""`FileArtifactService`: stores artifacts in a folder, in ADK's layout (adk-runtime 10.1)."""

import asyncio
import logging
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple, TypeVar

from google.genai import types
from pydantic import ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from devui.runtime.artifacts.base_artifact_service import (
    USER_PREFIX,
    ArtifactVersion,
    BaseArtifactService,
    check_name,
    ensure_part,
    id_segment,
    version_number,
)
from devui.runtime.errors import InputValidationError

# Where `FileArtifactService` keeps a file, and which names it refuses (adk-runtime 10.1).
#
#     <root>/apps/<app>/users/<user>/sessions/<session>/artifacts/<file>/versions/<n>/
#     <root>/apps/<app>/users/<user>/artifacts/<file>/versions/<n>/
#
# A slash in an id is written as %2F, a backslash as %5C. A version's folder holds the payload,
# under the last part of the file's name, and metadata.json.


VERSIONS = "versions"
METADATA = "metadata.json"


def user_folder(root: Path, app_name: str, user_id: str) -> Path:
    """Return a user's folder. Raises InputValidationError for names that no folder can have."""
    app, user = id_segment("app_name", app_name), id_segment("user_id", user_id)
    return root / "apps" / app / "users" / user


def scope_folder(user: Path, session_id: str | None) -> Path:
    """Return the folder of a session's artifacts, or of the user's own without a session."""
    if session_id is None:
        return user / "artifacts"
    return user / "sessions" / id_segment("session_id", session_id) / "artifacts"


def artifact_folder(user: Path, filename: str, session_id: str | None) -> Path:
    """Return the folder of one file with all its versions.

    A name that begins with `user:`, and any name without a session, belongs to the user. A name may
    include folders (`charts/may.png`). Raises InputValidationError for one that leads elsewhere or
    that the layout reserves.
    """
    check_name(filename)
    belongs_to_user = session_id is None or filename.startswith(USER_PREFIX)
    scope = scope_folder(user, None if belongs_to_user else session_id).resolve()
    relative = _relative(filename)
    folder = (scope / relative).resolve()
    if not folder.is_relative_to(scope):  # through a symbolic link
        raise InputValidationError(f"Artifact name {filename!r} resolves outside its folder.")
    return folder


def _relative(filename: str) -> PurePosixPath:
    bare = filename.removeprefix(USER_PREFIX).strip()
    windows = PureWindowsPath(bare)  # handles both separators, and drives
    if windows.root or windows.drive:
        raise InputValidationError(
            f"Artifact name {filename!r} is absolute or has a drive; use a relative name."
        )
    relative = PurePosixPath(windows.as_posix())
    if not relative.parts:
        raise InputValidationError(f"Artifact name {filename!r} is empty.")
    if ".." in relative.parts or "\0" in bare:
        raise InputValidationError(f"Artifact name {filename!r} must not contain '..' or NUL.")
    if VERSIONS in {part.rstrip(" .").casefold() for part in relative.parts}:
        raise InputValidationError(
            f"Artifact name {filename!r} contains {VERSIONS!r}, where versions are stored."
        )
    if relative.name.rstrip(" .").casefold() == METADATA:
        raise InputValidationError(f"The artifact name {METADATA!r} is reserved.")
    return relative


# The versions of one file on disk, each written whole or not at all (adk-runtime 10.1).


logger = logging.getLogger(__name__)

_ABANDONED = 3600.0
"""Seconds without a write after which an unfinished version counts as abandoned."""


class FileArtifactVersion(ArtifactVersion):
    """The content of metadata.json; a text has no MIME type."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, defer_build=True)

    file_name: str
    """The name as given, `user:` included."""
    display_name: str | None = None


def numbers(folder: Path) -> list[int]:
    """Return the numbers of the complete versions, ascending."""
    try:
        entries = list((folder / VERSIONS).iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(int(e.name) for e in entries if e.name.isascii() and e.name.isdecimal())


def uri(folder: Path, version: int) -> str:
    """Return the `file://` address of a version's payload."""
    return (folder / VERSIONS / str(version) / folder.name).as_uri()


def write(folder: Path, part: types.Part, about: FileArtifactVersion) -> int:
    """Store the next version of a file; it is on disk when this returns.

    Everything is written into a folder that readers ignore, and which is renamed at the end. That
    folder also reserves the number, across threads and processes.
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
    """Return a version's metadata; None if it has none that is readable."""
    path = folder / VERSIONS / str(version) / METADATA
    try:
        return FileArtifactVersion.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValidationError as error:
        logger.warning("%s is damaged and was skipped: %s", path, error)
        return None


def read(folder: Path, version: int) -> types.Part | None:
    """Return the content of a version; None if it doesn't exist."""
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
    """Delete all versions, and then the empty folders up to `scope`.

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
    """Return the folders of all files in a scope."""
    paths = []
    for path, folders, _ in os.walk(scope):
        if VERSIONS in folders:
            folders.remove(VERSIONS)
            paths.append(Path(path))
    return paths


def _reserve(versions: Path) -> Path:
    version_numbers = numbers(versions.parent)
    version = version_numbers[-1] + 1 if version_numbers else 0
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
    """Remove what is left of processes that died while writing."""
    for pending in versions.glob(".*.pending"):
        try:
            last_write = max(path.stat().st_mtime for path in (pending, *pending.iterdir()))
        except OSError:  # another process has just finished it
            continue
        if time.time() - last_write > _ABANDONED:
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
    """Flush a rename to disk; Windows cannot open folders and doesn't need it."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


T = TypeVar("T")


class FileArtifactService(BaseArtifactService):
    """Stores artifacts below `root_dir` in google-adk's layout; both can use it concurrently.

    A call without a session id applies to the user's own artifacts. Disk access runs in threads.
    Every method raises InputValidationError for an app, user, session or file name that would lead
    outside the folder.
    """

    def __init__(self, root_dir: Path | str) -> None:
        """Use `root_dir`, and create it if it is missing."""
        self.root_dir = Path(root_dir).expanduser().resolve()
        self.root_dir.mkdir(parents=True, exist_ok=True)

    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: types.Part | dict[str, Any],
        session_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """Save a new version of a text or of inline data; it is durable when this returns.

        Raises InputValidationError for any other kind of part.
        """
        part = ensure_part(artifact)
        if part.inline_data is None and part.text is None:
            raise InputValidationError("An artifact must contain text or inline data.")
        check_name(filename)
        blob = part.inline_data
        about = FileArtifactVersion(
            version=0,  # both are known once a number is reserved
            canonical_uri="",
            custom_metadata=custom_metadata or {},
            mime_type=(blob.mime_type or "application/octet-stream") if blob else None,
            file_name=filename,
            display_name=blob.display_name if blob else None,
        )
        where = _FileLocation(self.root_dir, app_name, user_id, filename, session_id)
        return await _in_folder(where, lambda folder: write(folder, part, about))

    async def load_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> types.Part | None:
        """Return that version, or the newest; None if it doesn't exist."""
        where = _FileLocation(self.root_dir, app_name, user_id, filename, session_id)
        return await _in_folder(where, lambda folder: _load(folder, version))

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Return the names of the session's and the user's files, sorted."""
        user = user_folder(self.root_dir, app_name, user_id)
        scopes = {scope_folder(user, None), scope_folder(user, session_id)}
        return await asyncio.to_thread(_names, scopes)

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete all versions; does nothing if there are none."""
        where = _FileLocation(self.root_dir, app_name, user_id, filename, session_id)
        scope = user_folder(self.root_dir, app_name, user_id)
        await _in_folder(where, lambda folder: remove(folder, scope))

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the numbers of the versions, ascending; a failed save may leave a gap."""
        where = _FileLocation(self.root_dir, app_name, user_id, filename, session_id)
        return await _in_folder(where, numbers)

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return the metadata of each version, ascending."""
        where = _FileLocation(self.root_dir, app_name, user_id, filename, session_id)
        return await _in_folder(where, _describe_all)

    async def get_artifact_version(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> ArtifactVersion | None:
        """Return the metadata of that version, or of the newest; None if it doesn't exist."""
        where = _FileLocation(self.root_dir, app_name, user_id, filename, session_id)
        return await _in_folder(where, lambda folder: _describe(folder, version))


class _FileLocation(NamedTuple):
    """The location of a file's versions."""

    root: Path
    app_name: str
    user_id: str
    filename: str
    session_id: str | None


async def _in_folder(where: _FileLocation, work: Callable[[Path], T]) -> T:
    """Call `work` with a file's folder, all in a thread, since finding it follows links."""

    def work_there() -> T:
        user = user_folder(where.root, where.app_name, where.user_id)
        return work(artifact_folder(user, where.filename, where.session_id))

    return await asyncio.to_thread(work_there)


def _load(folder: Path, version: int | None) -> types.Part | None:
    number = _existing(folder, version)
    return None if number is None else read(folder, number)


def _describe(folder: Path, version: int | None) -> ArtifactVersion | None:
    number = _existing(folder, version)
    return None if number is None else _about(folder, number)


def _describe_all(folder: Path) -> list[ArtifactVersion]:
    return [_about(folder, number) for number in numbers(folder)]


def _existing(folder: Path, version: int | None) -> int | None:
    version = version_number(version)
    version_numbers = numbers(folder)
    if version is None:
        return version_numbers[-1] if version_numbers else None
    return version if version in version_numbers else None


def _about(folder: Path, version: int) -> ArtifactVersion:
    record = metadata(folder, version)
    return ArtifactVersion(
        version=version,
        canonical_uri=uri(folder, version),
        custom_metadata=record.custom_metadata if record else {},
        create_time=record.create_time if record else folder.stat().st_mtime,
        mime_type=record.mime_type if record else None,
    )


def _names(scopes: set[Path]) -> list[str]:
    """Return the names as given; a file without readable metadata is named by its folder."""
    names = set()
    for scope in scopes:
        for folder in below(scope):
            version_numbers = numbers(folder)
            if version_numbers:
                record = metadata(folder, version_numbers[-1])
                names.add(record.file_name if record else folder.relative_to(scope).as_posix())
    return sorted(names)
