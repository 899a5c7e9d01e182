"""The endpoints of ADK's REST API, a method each.

scripts/describe writes this module from the routes.
"""

from __future__ import annotations

from typing import Any

from devui.client.connection import Connection, Stream


class AdkEndpoints(Connection):
    """The endpoints of ADK's REST API, a method each."""

    def health(self) -> Any:
        """Check that the server is up.

        Answers with `{"status": "ok"}`.
        """
        return self._get("health")

    def version(self) -> Any:
        """Get the versions of devui, Python, and the journal's SQLite (`sqlite_version`)."""
        return self._get("version")

    def list_apps(self, *, detailed: bool | None = None) -> Any:
        """List app names, or their details.

        Args:
            detailed: `true` adds each app's root agent and description.
        """
        return self._get("list-apps", detailed=detailed)

    def run(
        self,
        user_id: str,
        session_id: str,
        *,
        app_name: str | None = None,
        new_message: dict[str, Any] | None = None,
        streaming: bool = False,
        state_delta: dict[str, Any] | None = None,
        function_call_event_id: str | None = None,
        invocation_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
        service_tier: str | None = None,
    ) -> Any:
        """Run an agent and return all events; if the agent fails, the status is 500.

        A JSON array. Like `/run_sse`, it accepts a trailing comma in the body, as in ADK's
        documentation.
        """
        return self._post(
            "run",
            appName=app_name,
            userId=user_id,
            sessionId=session_id,
            newMessage=new_message,
            streaming=streaming,
            stateDelta=state_delta,
            functionCallEventId=function_call_event_id,
            invocationId=invocation_id,
            customMetadata=custom_metadata,
            serviceTier=service_tier,
        )

    def run_sse(
        self,
        user_id: str,
        session_id: str,
        *,
        app_name: str | None = None,
        new_message: dict[str, Any] | None = None,
        streaming: bool = False,
        state_delta: dict[str, Any] | None = None,
        function_call_event_id: str | None = None,
        invocation_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
        service_tier: str | None = None,
    ) -> Stream[dict[str, Any]]:
        """Run an agent and stream its events as they are committed.

        Server-sent events: one whole `data: {…}` frame per event, and a comment line every four
        seconds while the agent is silent. `streaming` adds partial events.
        """
        answer: Stream[dict[str, Any]] = self._post_stream(
            "run_sse",
            appName=app_name,
            userId=user_id,
            sessionId=session_id,
            newMessage=new_message,
            streaming=streaming,
            stateDelta=state_delta,
            functionCallEventId=function_call_event_id,
            invocationId=invocation_id,
            customMetadata=custom_metadata,
            serviceTier=service_tier,
        )
        return answer

    def app_info(self, app: str) -> Any:
        """Get an app's agents with their instructions and tool declarations.

        By name, with `instruction`, `tools` (as declared to models) and `sub_agents`; 400 if the
        root isn't an LlmAgent.
        """
        return self._get("apps", app, "app-info")

    def add_session_to_memory(self, app: str, user: str, session_id: str) -> Any:
        """Add a session to its app's memory, which lasts as long as the app's process."""
        return self._patch("apps", app, "users", user, "memory", sessionId=session_id)

    def list_sessions(self, app: str, user: str) -> Any:
        """List a user's sessions, with state but without events."""
        return self._get("apps", app, "users", user, "sessions")

    def create_session(
        self,
        app: str,
        user: str,
        *,
        session_id: str | None = None,
        state: dict[str, Any] | None = None,
        events: list[dict[str, Any]] | None = None,
        options: dict[str, Any] | None = None,
    ) -> Any:
        """Create a session; the body may be empty, or name an id, a state and first events."""
        return self._post(
            "apps",
            app,
            "users",
            user,
            "sessions",
            sessionId=session_id,
            state=state,
            events=events,
            options=options,
        )

    def get_session(self, app: str, user: str, session: str) -> Any:
        """Get a session with all its events, streamed from the journal.

        Its `ETag` is the number of the last event.
        """
        return self._get("apps", app, "users", user, "sessions", session)

    def create_session_with_id(
        self, app: str, user: str, session: str, state: dict[str, Any] | None = None
    ) -> Any:
        """Create a session with the id in the path (deprecated in ADK).

        The body is the state.
        """
        return self._upload(state, "apps", app, "users", user, "sessions", session)

    def patch_session(self, app: str, user: str, session: str, state_delta: dict[str, Any]) -> Any:
        """Change state with a user event; refused while a run is in progress.

        With `If-Match` and the `ETag` of the session, it is refused with 409 if there are later
        events.
        """
        return self._patch("apps", app, "users", user, "sessions", session, stateDelta=state_delta)

    def delete_session(self, app: str, user: str, session: str) -> Any:
        """Delete a session; a missing one is not an error, as in ADK."""
        return self._delete("apps", app, "users", user, "sessions", session)

    def list_artifacts(self, app: str, user: str, session: str) -> Any:
        """List file names of the session, and those of the user with the prefix `user:`."""
        return self._get("apps", app, "users", user, "sessions", session, "artifacts")

    def save_artifact(
        self,
        app: str,
        user: str,
        session: str,
        filename: str,
        *,
        artifact: dict[str, Any],
        custom_metadata: dict[str, Any] | None = None,
    ) -> Any:
        """Save a new version of a file, as bytes or text.

        `artifact` is a Part with `inlineData` or `text`. Answers with the metadata of the version.
        """
        return self._post(
            "apps",
            app,
            "users",
            user,
            "sessions",
            session,
            "artifacts",
            filename=filename,
            artifact=artifact,
            customMetadata=custom_metadata,
        )

    def version_metadata(
        self, app: str, user: str, session: str, name: str, *, version: str
    ) -> Any:
        """Get the metadata of one version."""
        return self._get(
            "apps",
            app,
            "users",
            user,
            "sessions",
            session,
            "artifacts",
            name,
            "versions",
            version,
            "metadata",
        )

    def list_versions_metadata(self, app: str, user: str, session: str, name: str) -> Any:
        """List the metadata of a file's versions, ascending.

        `{"version", "canonicalUri", "customMetadata", "createTime", "mimeType"}` of each; the URI
        contains no path.
        """
        return self._get(
            "apps",
            app,
            "users",
            user,
            "sessions",
            session,
            "artifacts",
            name,
            "versions",
            "metadata",
        )

    def load_version(self, app: str, user: str, session: str, name: str, *, version: str) -> Any:
        """Get one version of a file as a Part: a number from 0, or `latest`."""
        return self._get(
            "apps", app, "users", user, "sessions", session, "artifacts", name, "versions", version
        )

    def list_versions(self, app: str, user: str, session: str, name: str) -> Any:
        """List a file's version numbers, from 0."""
        return self._get(
            "apps", app, "users", user, "sessions", session, "artifacts", name, "versions"
        )

    def load_artifact(
        self, app: str, user: str, session: str, name: str, *, version: str | None = None
    ) -> Any:
        """Get a file as a Part, by default its newest version.

        Args:
            version: A number from 0, or `latest`.
        """
        return self._get(
            "apps", app, "users", user, "sessions", session, "artifacts", name, version=version
        )

    def delete_artifact(self, app: str, user: str, session: str, name: str) -> Any:
        """Delete all versions of a file; a missing one is not an error, as in ADK."""
        return self._delete("apps", app, "users", user, "sessions", session, "artifacts", name)
