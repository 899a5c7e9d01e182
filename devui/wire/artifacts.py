"""A worker's requests about artifacts, each answered by a `Reply`, and the URIs of artifacts."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveArtifact:
    """Result: the new version, counted from 0."""

    id: int
    user: str
    session: str | None
    filename: str
    part: str
    """JSON text of the Part (`inlineData` or `text`)."""
    metadata: str | None = None
    kind: Literal["save_artifact"] = "save_artifact"


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadArtifact:
    """Result: the Part, or null."""

    id: int
    user: str
    session: str | None
    filename: str
    version: int | None = None
    kind: Literal["load_artifact"] = "load_artifact"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListArtifacts:
    """Result: the file names, sorted."""

    id: int
    user: str
    session: str | None
    kind: Literal["list_artifacts"] = "list_artifacts"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListVersions:
    """Result: `[{"version", "mimeType", "createTime", "customMetadata"}, …]`, oldest first."""

    id: int
    user: str
    session: str | None
    filename: str
    kind: Literal["list_versions"] = "list_versions"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteArtifact:
    """Result: null."""

    id: int
    user: str
    session: str | None
    filename: str
    kind: Literal["delete_artifact"] = "delete_artifact"


def artifact_uri(app: str, user: str, session: str | None, filename: str, *, version: int) -> str:
    """Return a URI that identifies one version of an artifact; it isn't a file path."""
    scope = f"/sessions/{quote(session, safe='')}" if session else ""
    place = f"apps/{quote(app)}/users/{quote(user, safe='')}{scope}"
    return f"devui://{place}/artifacts/{quote(filename, safe='')}/versions/{version}"
