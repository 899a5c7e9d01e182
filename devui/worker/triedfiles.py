"""The files that a trial sees: those of the session, and over them what it saves itself."""

from typing import Any

from google.genai import types

from devui.runtime.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
from devui.runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService


class TriedFiles(BaseArtifactService):
    """Reads from another service, and writes to memory alone.

    A file that the trial saves or deletes is its own from then on: older versions are not seen.
    """

    def __init__(self, below: BaseArtifactService) -> None:
        self._below = below
        self._own = InMemoryArtifactService()
        self._changed: set[str] = set()

    def _of(self, filename: str) -> BaseArtifactService:
        return self._own if filename in self._changed else self._below

    async def save_artifact(self, *, filename: str, **more: Any) -> int:
        """Save in memory; returns the version, counted from 0 anew."""
        self._changed.add(filename)
        return await self._own.save_artifact(filename=filename, **more)

    async def load_artifact(self, *, filename: str, **more: Any) -> types.Part | None:
        """The trial's own version, else the session's."""
        return await self._of(filename).load_artifact(filename=filename, **more)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Names of both, sorted."""
        below, own = [
            await service.list_artifact_keys(
                app_name=app_name, user_id=user_id, session_id=session_id
            )
            for service in (self._below, self._own)
        ]
        return sorted({*own, *(name for name in below if name not in self._changed)})

    async def delete_artifact(self, *, filename: str, **more: Any) -> None:
        """The trial sees it no more; the session keeps it."""
        self._changed.add(filename)
        await self._own.delete_artifact(filename=filename, **more)

    async def list_versions(self, *, filename: str, **more: Any) -> list[int]:
        """Versions of the trial's own file, else of the session's."""
        return await self._of(filename).list_versions(filename=filename, **more)

    async def list_artifact_versions(self, *, filename: str, **more: Any) -> list[ArtifactVersion]:
        """What is known of them."""
        return await self._of(filename).list_artifact_versions(filename=filename, **more)

    async def get_artifact_version(self, *, filename: str, **more: Any) -> ArtifactVersion | None:
        """What is known of one, or of the newest."""
        return await self._of(filename).get_artifact_version(filename=filename, **more)
