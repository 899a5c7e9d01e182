"""Artifacts: named, versioned files of a session or a user."""

from devui.runtime.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
from devui.runtime.artifacts.file_artifact_service import FileArtifactService
from devui.runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService

__all__ = [
    "ArtifactVersion",
    "BaseArtifactService",
    "FileArtifactService",
    "InMemoryArtifactService",
]
