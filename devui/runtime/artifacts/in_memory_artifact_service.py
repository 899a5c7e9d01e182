"""`InMemoryArtifactService`: stores artifacts until the process ends (adk-runtime 10.1)."""

import copy
import re
from dataclasses import dataclass
from typing import Any

from google.genai import types

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

_MAX_REFERENCES = 5
_REFERENCE = re.compile(
    r"artifact://apps/(?P<app>.+?)/users/(?P<user>.+?)"
    r"(?:/sessions/(?P<session>.+?))?/artifacts/(?P<file>.+)/versions/(?P<version>\d+)"
)


@dataclass(frozen=True, slots=True)
class _StoredPart:
    part: types.Part
    about: ArtifactVersion


class InMemoryArtifactService(BaseArtifactService):
    """Stores artifacts in a dict, for tests and development.

    Every method raises InputValidationError for an app, user or session id that cannot be part of
    a path, and for a session's file without a session id.
    """

    def __init__(self) -> None:
        self.artifacts: dict[str, list[_StoredPart]] = {}
        """Versions by `<app>/<user>/<session, or "user">/<file>`."""

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
        """Save a new version of a text, of inline data or of a file reference.

        Raises InputValidationError for anything else, or without the session id it needs.
        """
        part = ensure_part(artifact).model_copy(deep=True)
        versions = self.artifacts.setdefault(_path(app_name, user_id, filename, session_id), [])
        scope = "" if filename.startswith(USER_PREFIX) else f"/sessions/{session_id}"
        about = ArtifactVersion(
            version=len(versions),
            canonical_uri=f"memory://apps/{app_name}/users/{user_id}{scope}"
            f"/artifacts/{filename}/versions/{len(versions)}",
            mime_type=_mime_type(part, app_name, user_id, session_id),
        )
        about.custom_metadata = copy.deepcopy(custom_metadata or {})  # keys may be anything here
        versions.append(_StoredPart(part, about))
        return about.version

    async def load_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> types.Part | None:
        """Return that version, or the newest; `artifact://` references are followed.

        Raises InputValidationError for an invalid reference, for one to another app, user or
        session, and for more than five in a row.
        """
        path = _path(app_name, user_id, filename, session_id)
        for _ in range(_MAX_REFERENCES + 1):
            entry = _stored_version(self, path, version)
            if entry is None or _is_empty(entry.part):
                return None
            reference = _reference(entry.part)
            if reference is None:
                return entry.part.model_copy(deep=True)
            _check_scope(reference, app_name, user_id, session_id)
            path = _path(reference["app"], reference["user"], reference["file"], session_id)
            version = int(reference["version"])
        raise InputValidationError(
            f"{filename!r} leads through more than {_MAX_REFERENCES} artifact references."
        )

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Return the names of the session's and the user's files, sorted."""
        owner = _owner(app_name, user_id)
        folders = [f"{owner}/user/"]
        if session_id is not None:
            folders.append(f"{owner}/{id_segment('session_id', session_id)}/")
        return sorted(
            {
                path.removeprefix(folder)
                for path, versions in self.artifacts.items()
                for folder in folders
                if versions and path.startswith(folder)
            }
        )

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete all versions, if any."""
        self.artifacts.pop(_path(app_name, user_id, filename, session_id), None)

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the numbers of the versions, ascending."""
        path = _path(app_name, user_id, filename, session_id)
        return list(range(len(self.artifacts.get(path, ()))))

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return the metadata of each version, ascending."""
        path = _path(app_name, user_id, filename, session_id)
        return [entry.about.model_copy(deep=True) for entry in self.artifacts.get(path, ())]

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
        entry = _stored_version(self, _path(app_name, user_id, filename, session_id), version)
        return entry.about.model_copy(deep=True) if entry else None


def _stored_version(
    service: InMemoryArtifactService, path: str, version: int | None
) -> _StoredPart | None:
    version = version_number(version)
    versions = service.artifacts.get(path, [])
    index = len(versions) - 1 if version is None else version
    return versions[index] if 0 <= index < len(versions) else None


def _path(app_name: str, user_id: str, filename: str, session_id: str | None) -> str:
    check_name(filename)
    owner = _owner(app_name, user_id)
    session = None if session_id is None else id_segment("session_id", session_id)
    if filename.startswith(USER_PREFIX):
        return f"{owner}/user/{filename}"
    if session is None:
        raise InputValidationError(
            f"{filename!r} belongs to a session: pass session_id, or begin its name with 'user:'."
        )
    if session == "user":
        raise InputValidationError("The session id 'user' is reserved for the user's own files.")
    return f"{owner}/{session}/{filename}"


def _owner(app_name: str, user_id: str) -> str:
    return f"{id_segment('app_name', app_name)}/{id_segment('user_id', user_id)}"


def _mime_type(part: types.Part, app: str, user: str, session: str | None) -> str | None:
    if part.inline_data is not None:
        return part.inline_data.mime_type
    if part.text is not None:
        return "text/plain"
    if part.file_data is None:
        raise InputValidationError("An artifact must contain text, inline data or file data.")
    reference = _reference(part)
    if reference is None:
        return part.file_data.mime_type
    _check_scope(reference, app, user, session)
    return None  # known only once the reference is followed


def _reference(part: types.Part) -> dict[str, str] | None:
    """Return the parts of an `artifact://` address; None if the part has no such address."""
    uri = part.file_data.file_uri if part.file_data else None
    if not uri or not uri.startswith("artifact://"):
        return None
    match = _REFERENCE.fullmatch(uri)
    if match is None:
        raise InputValidationError(f"{uri!r} is not a valid artifact reference.")
    return match.groupdict()


def _check_scope(reference: dict[str, str], app: str, user: str, session: str | None) -> None:
    same_session = reference["session"] is None or reference["session"] == session
    if reference["app"] != app or reference["user"] != user or not same_session:
        raise InputValidationError("An artifact may refer only to its own app, user and session.")


def _is_empty(part: types.Part) -> bool:
    """Return whether a rewind emptied this version because the file didn't exist yet.

    An empty file with a type, such as an empty table, still counts as a file.
    """
    blob = part.inline_data
    if blob is None:
        return part == types.Part()
    return not blob.data and blob.mime_type in (None, "application/octet-stream")
