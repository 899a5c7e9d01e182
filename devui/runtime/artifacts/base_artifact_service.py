"""`BaseArtifactService`: where artifacts are kept (adk-runtime 10.1)."""

from abc import ABC, abstractmethod
from typing import Any

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from devui.runtime.errors.input_validation_error import InputValidationError
from devui.runtime.mistakes import given
from devui.runtime.platform.time import get_time


class ArtifactVersion(BaseModel):
    """What is known about one version of a file."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, defer_build=True)

    version: int
    """Counts from 0."""
    canonical_uri: str
    """Where this version is, `memory://…` or `file://…`; for messages that name the file."""
    custom_metadata: dict[str, Any] = Field(default_factory=dict)
    """Labels that were given when it was saved; must be JSON-able."""
    create_time: float = Field(default_factory=get_time)
    """Unix seconds."""
    mime_type: str | None = None
    """What the content is; None of a text in a file, and where nothing is known."""


def ensure_part(artifact: types.Part | dict[str, Any]) -> types.Part:
    """The artifact as a Part; a dict may use camelCase or snake_case keys.

    Raises:
        InputValidationError: it is something else.
    """
    if isinstance(artifact, dict):
        return types.Part.model_validate(artifact)
    if not isinstance(artifact, types.Part):
        raise InputValidationError(
            f"`artifact` is {given(artifact)}; give a types.Part, such as"
            " types.Part.from_text(text=...) or types.Part.from_bytes(data=..., mime_type=...)."
        )
    return artifact


class BaseArtifactService(ABC):
    """Keeps files by app, user, session and name, each in versions from 0.

    A name that begins with `user:` belongs to the user and is seen in all of their sessions; all
    others need a session id.
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
        """Save a new version; returns its number."""

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
        """That version, or the newest; None if there is none."""

    @abstractmethod
    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Names of the session's and the user's files, sorted."""

    @abstractmethod
    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete all versions; does nothing if there are none."""

    @abstractmethod
    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """The numbers of the versions, ascending."""

    @abstractmethod
    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """What is known about each version, ascending."""

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
        """What is known about that version, or the newest; None if there is none."""
