"""The endpoints of ADK's REST API, a method each.

scripts/describe writes this module from the routes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from devui.client.connection import Connection, Stream

if TYPE_CHECKING:
    from devui.web.adk.answers import (
        AdkAppInfoJson,
        AdkAppsJson,
        AdkArtifactVersionJson,
        AdkBuildJson,
        AdkEventGraphJson,
        AdkGraphJson,
        AdkHealthJson,
        AdkSessionJson,
        AdkSpanJson,
        AdkVersionJson,
    )
    from devui.web.adk.event_json import AdkEventJson, AdkPartJson


class AdkEndpoints(Connection):
    """The endpoints of ADK's REST API, a method each."""

    def health(self) -> AdkHealthJson:
        """Check that the server is up; the status is `ok`."""
        answer: AdkHealthJson = self._get("health")
        return answer

    def version(self) -> AdkVersionJson:
        """Get the versions of devui, Python, and the journal's SQLite (`sqlite_version`)."""
        answer: AdkVersionJson = self._get("version")
        return answer

    @overload
    def list_apps(self, *, detailed: Literal[False] | None = None) -> list[str]: ...
    @overload
    def list_apps(self, *, detailed: Literal[True]) -> AdkAppsJson: ...
    def list_apps(self, *, detailed: bool | None = None) -> list[str] | AdkAppsJson:
        """List app names, or their details.

        Args:
            detailed: `true` adds each app's root agent and description.
        """
        answer: list[str] | AdkAppsJson = self._get("list-apps", detailed=detailed)
        return answer

    def run(
        self,
        user_id: str,
        session_id: str,
        *,
        app_name: str | None = None,
        new_message: Mapping[str, Any] | None = None,
        streaming: bool = False,
        state_delta: dict[str, Any] | None = None,
        function_call_event_id: str | None = None,
        invocation_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
        service_tier: str | None = None,
    ) -> list[AdkEventJson]:
        """Run an agent and return all events; if the agent fails, the status is 500.

        Like `/run_sse`, it accepts a trailing comma in the body, as in ADK's documentation.
        """
        answer: list[AdkEventJson] = self._post(
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
        return answer

    def run_sse(
        self,
        user_id: str,
        session_id: str,
        *,
        app_name: str | None = None,
        new_message: Mapping[str, Any] | None = None,
        streaming: bool = False,
        state_delta: dict[str, Any] | None = None,
        function_call_event_id: str | None = None,
        invocation_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
        service_tier: str | None = None,
    ) -> Stream[AdkEventJson]:
        """Run an agent and stream its events as they are committed.

        Server-sent events: one whole `data: {…}` frame per event, and a comment line every four
        seconds while the agent is silent. `streaming` adds partial events. If the agent fails, the
        last message says why.
        """
        answer: Stream[AdkEventJson] = self._post_stream(
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

    def app_info(self, app: str) -> AdkAppInfoJson:
        """Get an app's agents with their instructions and tool declarations.

        The agents are listed by name, with `instruction`, `tools` (as declared to models) and
        `sub_agents`; 400 if the root isn't an LlmAgent.
        """
        answer: AdkAppInfoJson = self._get("apps", app, "app-info")
        return answer

    def add_session_to_memory(self, app: str, user: str, session_id: str) -> None:
        """Add a session to its app's memory, which lasts as long as the app's process."""
        self._patch("apps", app, "users", user, "memory", sessionId=session_id)

    def list_sessions(self, app: str, user: str) -> list[AdkSessionJson]:
        """List a user's sessions, with state but without events."""
        answer: list[AdkSessionJson] = self._get("apps", app, "users", user, "sessions")
        return answer

    def create_session(
        self,
        app: str,
        user: str,
        *,
        session_id: str | None = None,
        state: dict[str, Any] | None = None,
        events: Sequence[Mapping[str, Any]] | None = None,
        options: dict[str, Any] | None = None,
    ) -> AdkSessionJson:
        """Create a session; the body may be empty, or name an id, a state and first events."""
        answer: AdkSessionJson = self._post(
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
        return answer

    def get_session(self, app: str, user: str, session: str) -> AdkSessionJson:
        """Get a session with all its events, streamed from the journal.

        Its `ETag` is the number of the last event.
        """
        answer: AdkSessionJson = self._get("apps", app, "users", user, "sessions", session)
        return answer

    def create_session_with_id(
        self, app: str, user: str, session: str, state: dict[str, Any] | None = None
    ) -> AdkSessionJson:
        """Create a session with the id in the path (deprecated in ADK).

        The body is the state.
        """
        answer: AdkSessionJson = self._upload(
            state, "apps", app, "users", user, "sessions", session
        )
        return answer

    def patch_session(
        self, app: str, user: str, session: str, state_delta: dict[str, Any]
    ) -> AdkSessionJson:
        """Change state with a user event; refused while a run is in progress.

        With `If-Match` and the `ETag` of the session, it is refused with 409 if there are later
        events.
        """
        answer: AdkSessionJson = self._patch(
            "apps", app, "users", user, "sessions", session, stateDelta=state_delta
        )
        return answer

    def delete_session(self, app: str, user: str, session: str) -> None:
        """Delete a session; a missing one is not an error, as in ADK."""
        self._delete("apps", app, "users", user, "sessions", session)

    def list_artifacts(self, app: str, user: str, session: str) -> list[str]:
        """List file names of the session, and those of the user with the prefix `user:`."""
        answer: list[str] = self._get("apps", app, "users", user, "sessions", session, "artifacts")
        return answer

    def save_artifact(
        self,
        app: str,
        user: str,
        session: str,
        filename: str,
        *,
        artifact: Mapping[str, Any],
        custom_metadata: dict[str, Any] | None = None,
    ) -> AdkArtifactVersionJson:
        """Save a new version of a file, as bytes or text.

        `artifact` is a Part with `inlineData` or `text`.
        """
        answer: AdkArtifactVersionJson = self._post(
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
        return answer

    def version_metadata(
        self, app: str, user: str, session: str, name: str, *, version: str
    ) -> AdkArtifactVersionJson:
        """Get the metadata of one version."""
        answer: AdkArtifactVersionJson = self._get(
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
        return answer

    def list_versions_metadata(
        self, app: str, user: str, session: str, name: str
    ) -> list[AdkArtifactVersionJson]:
        """List the metadata of a file's versions, ascending; the URI contains no path."""
        answer: list[AdkArtifactVersionJson] = self._get(
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
        return answer

    def load_version(
        self, app: str, user: str, session: str, name: str, *, version: str
    ) -> AdkPartJson:
        """Get one version of a file as a Part: a number from 0, or `latest`."""
        answer: AdkPartJson = self._get(
            "apps", app, "users", user, "sessions", session, "artifacts", name, "versions", version
        )
        return answer

    def list_versions(self, app: str, user: str, session: str, name: str) -> list[int]:
        """List a file's version numbers, from 0."""
        answer: list[int] = self._get(
            "apps", app, "users", user, "sessions", session, "artifacts", name, "versions"
        )
        return answer

    def load_artifact(
        self, app: str, user: str, session: str, name: str, *, version: str | None = None
    ) -> AdkPartJson:
        """Get a file as a Part, by default its newest version.

        Args:
            version: A number from 0, or `latest`.
        """
        answer: AdkPartJson = self._get(
            "apps", app, "users", user, "sessions", session, "artifacts", name, version=version
        )
        return answer

    def delete_artifact(self, app: str, user: str, session: str, name: str) -> None:
        """Delete all versions of a file; a missing one is not an error, as in ADK."""
        self._delete("apps", app, "users", user, "sessions", session, "artifacts", name)

    def session_spans(self, app: str, session: str) -> list[AdkSpanJson]:
        """List a session's finished spans; empty for an unknown session.

        Model messages are included as logs. Spans are stored in the journal, so they survive a
        restart. Below `/debug`, it searches the sessions of all apps. If several users have
        sessions with this id, it lists the spans of all of them.
        """
        answer: list[AdkSpanJson] = self._get(
            "dev", "apps", app, "debug", "trace", "session", session
        )
        return answer

    def event_span(self, app: str, event: str) -> dict[str, Any]:
        """Get the attributes of the model or tool span that led to an event.

        They include `gcp.vertex.agent.llm_request` and `llm_response`, or `tool_call_args` and
        `tool_response`. Below `/debug`, it searches the sessions of all apps.
        """
        answer: dict[str, Any] = self._get("dev", "apps", app, "debug", "trace", event)
        return answer

    def app_build(self, app: str) -> AdkBuildJson:
        """Get an app's agents with their settings and tools, and its README."""
        answer: AdkBuildJson = self._get("dev", "apps", app, "build_graph")
        return answer

    def agent_graphs(
        self, app: str, *, dark_mode: bool | None = None, node: str | None = None
    ) -> dict[str, AdkGraphJson]:
        """Get graphs of an agent, by default the root, and of each workflow below it.

        The graphs are in Graphviz's DOT language, by the paths of the agents.

        Args:
            dark_mode: `true` for dark colors.
            node: The path of the agent: `root/agent`.
        """
        answer: dict[str, AdkGraphJson] = self._get(
            "dev", "apps", app, "build_graph_image", dark_mode=dark_mode, node=node
        )
        return answer

    def app_graph(self, app: str, *, dark_mode: bool | None = None) -> AdkGraphJson:
        """Get the whole app as one graph.

        The graph is in Graphviz's DOT language.

        Args:
            dark_mode: `true` for dark colors.
        """
        answer: AdkGraphJson = self._get("dev", "apps", app, "graph", dark_mode=dark_mode)
        return answer

    def event_graph(self, app: str, user: str, session: str, event: str) -> AdkEventGraphJson:
        """Get the graph with an event's calls and answers marked; `{}` for an unknown event."""
        answer: AdkEventGraphJson = self._get(
            "dev", "apps", app, "users", user, "sessions", session, "events", event, "graph"
        )
        return answer

    def agent_yaml(self, app: str, *, file_path: str | None = None, tmp: bool | None = None) -> str:
        """Get the agent as YAML, from `root_agent.yaml` or another file in its folder.

        Empty if there is no such file.

        Args:
            file_path: Another YAML file of the app.
            tmp: `true` for a draft, of which devui has none.
        """
        return self._get_text("dev", "apps", app, "builder", file_path=file_path, tmp=tmp)

    def list_tests(self, app: str) -> list[str]:
        """List the tests that google-adk recorded in the app's folder `tests`."""
        answer: list[str] = self._get("dev", "apps", app, "tests")
        return answer

    def get_test(self, app: str, test: str) -> dict[str, Any]:
        """Get one recorded test."""
        answer: dict[str, Any] = self._get("dev", "apps", app, "tests", test)
        return answer

    def openapi(self) -> dict[str, Any]:
        """Get this API as an OpenAPI document."""
        answer: dict[str, Any] = self._get("openapi.json")
        return answer
