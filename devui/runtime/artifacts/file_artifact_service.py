"""`FileArtifactService`: artifacts in a folder, in the layout of ADK (adk-runtime 10.1)."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from google.genai import types

from devui.runtime.artifacts import artifact_versions
from devui.runtime.artifacts.arguments import check_name, version_number
from devui.runtime.artifacts.artifact_folders import artifact_folder, scope_folder, user_folder
from devui.runtime.artifacts.artifact_versions import FileArtifactVersion
from devui.runtime.artifacts.base_artifact_service import (
    ArtifactVersion,
    BaseArtifactService,
    ensure_part,
)
from devui.runtime.errors.input_validation_error import InputValidationError

T = TypeVar("T")


class FileArtifactService(BaseArtifactService):
    """Artifacts below `root_dir`, which google-adk can read and write at the same time.

    A call without a session id is about the user's own files. Disk work is done in threads. Every
    method raises InputValidationError for an app, user, session or file name that would lead out
    of the folder.
    """

    def __init__(self, root_dir: Path | str) -> None:
        """Use `root_dir`, which is made if it is missing."""
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
            raise InputValidationError("An artifact must hold a text or inline data.")
        check_name(filename)
        blob = part.inline_data
        about = FileArtifactVersion(
            version=0,  # both are known when a number is reserved
            canonical_uri="",
            custom_metadata=custom_metadata or {},
            mime_type=(blob.mime_type or "application/octet-stream") if blob else None,
            file_name=filename,
            display_name=blob.display_name if blob else None,
        )
        where = _Where(self.root_dir, app_name, user_id, filename, session_id)
        return await _in_folder(where, lambda folder: artifact_versions.write(folder, part, about))

    async def load_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> types.Part | None:
        """That version, or the newest; None if there is none."""
        where = _Where(self.root_dir, app_name, user_id, filename, session_id)
        return await _in_folder(where, lambda folder: _load(folder, version))

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Names of the session's and the user's files, sorted."""
        user = user_folder(self.root_dir, app_name, user_id)
        scopes = {scope_folder(user, None), scope_folder(user, session_id)}
        return await asyncio.to_thread(_names, scopes)

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete all versions; does nothing if there are none."""
        where = _Where(self.root_dir, app_name, user_id, filename, session_id)
        scope = user_folder(self.root_dir, app_name, user_id)
        await _in_folder(where, lambda folder: artifact_versions.remove(folder, scope))

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """The numbers of the versions, ascending; a failed save may leave a gap."""
        where = _Where(self.root_dir, app_name, user_id, filename, session_id)
        return await _in_folder(where, artifact_versions.numbers)

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """What is known about each version, ascending."""
        where = _Where(self.root_dir, app_name, user_id, filename, session_id)
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
        """What is known about that version, or the newest; None if there is none."""
        where = _Where(self.root_dir, app_name, user_id, filename, session_id)
        return await _in_folder(where, lambda folder: _describe(folder, version))


class _Where(NamedTuple):
    """Where the versions of a file are."""

    root: Path
    app_name: str
    user_id: str
    filename: str
    session_id: str | None


async def _in_folder(where: _Where, work: Callable[[Path], T]) -> T:
    """Do it in the folder of a file, all in a thread: finding the folder follows links."""

    def work_there() -> T:
        user = user_folder(where.root, where.app_name, where.user_id)
        return work(artifact_folder(user, where.filename, where.session_id))

    return await asyncio.to_thread(work_there)


def _load(folder: Path, version: int | None) -> types.Part | None:
    number = _existing(folder, version)
    return None if number is None else artifact_versions.read(folder, number)


def _describe(folder: Path, version: int | None) -> ArtifactVersion | None:
    number = _existing(folder, version)
    return None if number is None else _about(folder, number)


def _describe_all(folder: Path) -> list[ArtifactVersion]:
    return [_about(folder, number) for number in artifact_versions.numbers(folder)]


def _existing(folder: Path, version: int | None) -> int | None:
    version = version_number(version)
    known = artifact_versions.numbers(folder)
    if version is None:
        return known[-1] if known else None
    return version if version in known else None


def _about(folder: Path, version: int) -> ArtifactVersion:
    stored = artifact_versions.metadata(folder, version)
    return ArtifactVersion(
        version=version,
        canonical_uri=artifact_versions.uri(folder, version),
        custom_metadata=stored.custom_metadata if stored else {},
        create_time=stored.create_time if stored else folder.stat().st_mtime,
        mime_type=stored.mime_type if stored else None,
    )


def _names(scopes: set[Path]) -> list[str]:
    """The names as they were given; a file without readable metadata goes by its folder."""
    names = set()
    for scope in scopes:
        for folder in artifact_versions.below(scope):
            known = artifact_versions.numbers(folder)
            if known:
                stored = artifact_versions.metadata(folder, known[-1])
                names.add(stored.file_name if stored else folder.relative_to(scope).as_posix())
    return sorted(names)
