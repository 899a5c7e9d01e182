"""`BaseArtifactService`: stores artifacts (adk-runtime 10.1)."""

import re
from abc import ABC, abstractmethod
from operator import index
from typing import Any, SupportsIndex

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from devui.runtime.errors import InputValidationError
from devui.runtime.mistakes import brief
from devui.runtime.platform.time import get_time

# Checks of the arguments of artifact services (adk-runtime 10.1).


USER_PREFIX = "user:"
"""The prefix of the names of files that belong to the user and are visible in all sessions."""


def check_name(filename: object) -> None:
    """Check the type of a file name.

    Raises:
        InputValidationError: it is not a string.
    """
    if not isinstance(filename, str):
        raise InputValidationError(f"`filename` is {brief(filename)}; pass a string.")


_ESCAPED = re.compile("%2F|%5C|%25", re.IGNORECASE)
_ESCAPES = str.maketrans({"%": "%25", "/": "%2F", "\\": "%5C"})


def id_segment(name: str, value: str) -> str:
    """Return the id of an app, user or session as a segment of a path, unique to the id.

    Slashes of an id, such as `team/ann`, are escaped. An id without slashes stays as it is, unless
    it looks like an escaped one.

    Raises:
        InputValidationError: it is blank, begins with a slash, or would lead elsewhere as a path.
    """
    parts = value.replace("\\", "/").split("/")
    if not value.strip() or value == "." or ".." in parts or "\0" in value or not parts[0]:
        raise InputValidationError(
            f"{name} {value!r} cannot be part of an artifact's path; pass an id that is not blank,"
            " does not begin with a slash and does not contain '..'."
        )
    is_plain = len(parts) == 1 and not _ESCAPED.search(value)
    return value if is_plain else value.translate(_ESCAPES)


def version_number(version: object) -> int | None:
    """Convert a version number, which may be one of numpy's; None stands for the newest.

    Raises:
        InputValidationError: it is neither a whole number nor None.
    """
    if version is None:
        return None
    if not isinstance(version, SupportsIndex):
        raise InputValidationError(
            f"`version` is {brief(version)}; pass a version number, starting at 0, or omit it for"
            " the latest."
        )
    return index(version)


class ArtifactVersion(BaseModel):
    """The metadata of one version of an artifact."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, defer_build=True)

    version: int
    """Counts from 0."""
    canonical_uri: str
    """The address of this version, `memory://…` or `file://…`; messages may refer to it."""
    custom_metadata: dict[str, Any] = Field(default_factory=dict)
    """Labels given when it was saved; must be JSON-able."""
    create_time: float = Field(default_factory=get_time)
    """Unix seconds."""
    mime_type: str | None = None
    """The type of the content; None for text in a file, and if it is unknown."""


def ensure_part(artifact: types.Part | dict[str, Any]) -> types.Part:
    """Return the artifact as a Part; a dict may use camelCase or snake_case keys."""
    if isinstance(artifact, dict):
        return types.Part.model_validate(artifact)
    if not isinstance(artifact, types.Part):
        raise InputValidationError(
            f"`artifact` is {brief(artifact)}; pass a types.Part, such as"
            " types.Part.from_text(text=...) or types.Part.from_bytes(data=..., mime_type=...)."
        )
    return artifact


class BaseArtifactService(ABC):
    """Stores artifacts by app, user, session and name, in versions from 0.

    A name that begins with `user:` belongs to the user and is visible in all their sessions. Other
    names require a session id.
    """

    @abstractmethod
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
        """Save a new version and return its number."""

    @abstractmethod
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

    @abstractmethod
    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Return the names of the session's and the user's files, sorted."""

    @abstractmethod
    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete all versions; does nothing if there are none."""

    @abstractmethod
    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the numbers of the versions, ascending."""

    @abstractmethod
    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return the metadata of each version, ascending."""

    @abstractmethod
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
