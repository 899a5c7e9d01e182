"""The artifacts of a tool's caller, for an agent that runs inside the tool (adk-runtime 8.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from devui.runtime.artifacts.base_artifact_service import (
    ArtifactVersion,
    BaseArtifactService,
    ensure_part,
)

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.context import Context


class ForwardingArtifactService(BaseArtifactService):
    """Reads and writes the caller's files, whatever scope it is asked for.

    What is saved shows in the caller's `artifact_delta`, as if the tool itself had saved it.
    """

    def __init__(self, tool_context: Context) -> None:
        """Forward to the artifact service of the tool's invocation."""
        self.tool_context = tool_context

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
        """Save a new version in the caller's name."""
        return await self.tool_context.save_artifact(
            filename, ensure_part(artifact), custom_metadata
        )

    async def load_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> types.Part | None:
        """That version of the caller's file, or the newest."""
        return await self.tool_context.load_artifact(filename, version)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Names of the caller's files."""
        return await self.tool_context.list_artifacts()

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete all versions of the caller's file."""
        await self._service().delete_artifact(**self._scope(), filename=filename)

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """The numbers of the versions of the caller's file."""
        return await self._service().list_versions(**self._scope(), filename=filename)

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """What is known about each version of the caller's file."""
        return await self._service().list_artifact_versions(**self._scope(), filename=filename)

    async def get_artifact_version(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> ArtifactVersion | None:
        """What is known about that version of the caller's file, or the newest."""
        return await self.tool_context.get_artifact_version(filename, version)

    def _service(self) -> BaseArtifactService:
        service = self.tool_context.get_invocation_context().artifact_service
        if service is None:
            raise ValueError("The Runner has no artifact_service; give it one to use this.")
        return service

    def _scope(self) -> dict[str, str]:
        session = self.tool_context.session
        return {
            "app_name": session.app_name,
            "user_id": session.user_id,
            "session_id": session.id,
        }
