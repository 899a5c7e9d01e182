"""The artifact service of a worker: a client of the server's journal."""

from typing import Any

from google.genai import types

from devui.runtime.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
from devui.wire.messages import (
    DeleteArtifact,
    ListArtifacts,
    ListVersions,
    LoadArtifact,
    SaveArtifact,
)
from devui.worker.link import Link
