"""The artifact service of a worker: a client of the server's journal."""

import json
from typing import Any

from google.genai import types

from devui.runtime.artifacts.base_artifact_service import check_name, ensure_part, version_number
from devui.wire.artifacts import (
    DeleteArtifact,
    ListArtifacts,
    ListVersions,
    LoadArtifact,
    SaveArtifact,
    artifact_uri,
)
from devui.worker.engines.kit import ArtifactVersion, BaseArtifactService, Kit
from devui.worker.link import Link

_USER = "user:"


class WireArtifactService(BaseArtifactService):
    """The artifacts of one app, stored by the server; `app_name` is ignored except in URIs."""

    def __init__(self, link: Link, kit: Kit) -> None:
        self._link = link
        self._kit = kit

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
        """Save a new version. Raises InputValidationError for a part without data or text."""
        part = ensure_part(artifact)
        if part.inline_data is None and part.text is None:
            raise self._kit.input_validation_error(
                f"the artifact {filename!r} has neither inline data nor text"
            )
        text = part.model_dump_json(by_alias=True, exclude_none=True)
        metadata = json.dumps(custom_metadata) if custom_metadata else None
        session = self._scope(filename, session_id)
        version: int = await self._link.request(
            lambda i: SaveArtifact(
                id=i,
                user=user_id,
                session=session,
                filename=filename,
                part=text,
                metadata=metadata,
            )
        )
        return version

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
        check_name(filename)
        version = version_number(version)
        session = self._scope(filename, session_id)
        part = await self._link.request(
            lambda i: LoadArtifact(
                id=i, user=user_id, session=session, filename=filename, version=version
            )
        )
        return None if part is None else types.Part.model_validate(part)

    async def list_artifact_keys(
        self, *, app_name: str, user_id: str, session_id: str | None = None
    ) -> list[str]:
        """Return the names of the session's and the user's files, sorted."""
        names: list[str] = await self._link.request(
            lambda i: ListArtifacts(id=i, user=user_id, session=session_id)
        )
        return names

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        """Delete all versions; does nothing if there are none."""
        session = self._scope(filename, session_id)
        await self._link.request(
            lambda i: DeleteArtifact(id=i, user=user_id, session=session, filename=filename)
        )

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        """Return the numbers of the versions, ascending."""
        return [entry["version"] for entry in await self._versions(user_id, filename, session_id)]

    async def list_artifact_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[ArtifactVersion]:
        """Return the metadata of each version, ascending."""
        return [
            self._kit.artifact_version(
                version=entry["version"],
                canonical_uri=artifact_uri(
                    app_name, user_id, session_id, filename, version=entry["version"]
                ),
                custom_metadata=entry["customMetadata"],
                create_time=entry["createTime"],
                mime_type=entry["mimeType"],
            )
            for entry in await self._versions(user_id, filename, session_id)
        ]

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
        check_name(filename)
        version = version_number(version)
        versions = await self.list_artifact_versions(
            app_name=app_name, user_id=user_id, filename=filename, session_id=session_id
        )
        if version is None:
            return versions[-1] if versions else None
        return next((each for each in versions if each.version == version), None)

    async def _versions(
        self, user_id: str, filename: str, session_id: str | None
    ) -> list[dict[str, Any]]:
        session = self._scope(filename, session_id)
        versions: list[dict[str, Any]] = await self._link.request(
            lambda i: ListVersions(id=i, user=user_id, session=session, filename=filename)
        )
        return versions

    def _scope(self, filename: str, session_id: str | None) -> str | None:
        """Return the file's session, or None for a user's file. Raises if no session is given."""
        if filename.startswith(_USER):
            return None
        if session_id is None:
            raise self._kit.input_validation_error(
                f"the artifact {filename!r} belongs to a session: give a session_id, "
                "or name it `user:…` to share it among the user's sessions"
            )
        return session_id
