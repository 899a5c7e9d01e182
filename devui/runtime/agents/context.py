"""`Context`: what callbacks and tools work with (adk-runtime 4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from devui.runtime.agents.node_context import NodeContext
from devui.runtime.auth.auth_handler import AuthHandler
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.events.event_actions import EventActions
from devui.runtime.events.tool_confirmation import ToolConfirmation
from devui.runtime.mistakes import given
from devui.runtime.sessions.state import State

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
    from devui.runtime.auth.auth_credential import AuthCredential
    from devui.runtime.auth.credential_service.base_credential_service import (
        BaseCredentialService,
    )
    from devui.runtime.events.event import Event
    from devui.runtime.events.ui_widget import UiWidget
    from devui.runtime.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from devui.runtime.memory.memory_entry import MemoryEntry
    from devui.runtime.workflow.node_run import NodeRun, Route

S = TypeVar("S")


class Context(NodeContext):
    """One callback's, tool call's or node's access to state, artifacts, memory and control.

    What it changes is gathered in `actions`, which the next event carries; until that event is
    committed other code of the invocation sees the changes as dirty reads (runtime seed).
    `CallbackContext` and `ToolContext` are other names of this class.

    What is about artifacts, memory or credentials raises ValueError if the Runner has no service
    for that, and whatever the service raises.
    """

    # On the class, too, so that a mock with it as its `spec` has them.
    function_call_id: str | None = None
    """The call that a tool answers; None outside of tools."""
    tool_confirmation: ToolConfirmation | None = None
    """A human's decision on that call."""

    def __init__(
        self,
        invocation_context: InvocationContext,
        *,
        event_actions: EventActions | None = None,
        function_call_id: str | None = None,
        tool_confirmation: ToolConfirmation | None = None,
        node_run: NodeRun | None = None,
    ) -> None:
        """Open a context whose changes go to `event_actions`, or to new ones.

        Args:
            invocation_context: The invocation.
            event_actions: The actions of the event being made.
            function_call_id: The call a tool answers; None outside tools.
            tool_confirmation: A human's decision on that call.
            node_run: The run of the node whose context this is.
        """
        super().__init__(invocation_context)
        self._node_run = node_run
        self._given_actions = event_actions
        self._state: State | None = None
        """Made, as the actions are, when somebody asks for it: most contexts are never asked."""
        self.function_call_id = function_call_id
        self.tool_confirmation = tool_confirmation

    @property
    def state(self) -> State:
        """The session's state; writes are recorded for the next event."""
        if self._state is None:
            self._state = State(
                self._invocation_context.session.state,
                self._event_actions.state_delta,
                schema=self._node_run.state_schema if self._node_run else None,
            )
        return self._state

    @state.setter
    def state(self, value: object) -> NoReturn:
        raise AttributeError(
            "The state cannot be replaced; write its keys, as in state['key'] = ..., or several of"
            " them with state.update(...)."
        )

    @property
    def actions(self) -> EventActions:
        """The actions of the next event, changes made in place included."""
        if self._state is not None:
            self._state.has_delta()
        return self._event_actions

    @property
    def _event_actions(self) -> EventActions:
        if self._given_actions is None:
            self._given_actions = EventActions.made()
        return self._given_actions

    @property
    def route(self) -> Route | None:
        """Which edges to follow behind this node; in callbacks and tools, behind their agent's."""
        run = self._node_run
        return run.route if run else self._event_actions.route

    @route.setter
    def route(self, value: Route) -> None:
        run = self._node_run
        if run:
            # In the form that the event will have: a tuple is several, an Enum is its value.
            run.route, run.route_told = EventActions(route=value).route, False
        else:
            self._event_actions.route = value

    @property
    def branch(self) -> str | None:
        """The branch of the agent that runs."""
        return self._invocation_context.branch

    @property
    def custom_metadata(self) -> dict[str, Any]:
        """The labels of the run; may be changed, for those that run later, and not on events."""
        return self._invocation_context.custom_metadata

    def get_invocation_context(self) -> InvocationContext:
        """The invocation behind this context."""
        return self._invocation_context

    # Artifacts

    async def save_artifact(
        self,
        filename: str,
        artifact: types.Part,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """Save a version of the file and note it in `artifact_delta`; returns its number."""
        version = await self._artifacts().save_artifact(
            **self._scope(), filename=filename, artifact=artifact, custom_metadata=custom_metadata
        )
        self._event_actions.artifact_delta[filename] = version
        return version

    async def load_artifact(self, filename: str, version: int | None = None) -> types.Part | None:
        """The file's content in that or its newest version; None if there is none."""
        return await self._artifacts().load_artifact(
            **self._scope(), filename=filename, version=version
        )

    async def list_artifacts(self) -> list[str]:
        """Names of the session's and the user's files, sorted."""
        return await self._artifacts().list_artifact_keys(**self._scope())

    async def get_artifact_version(
        self, filename: str, version: int | None = None
    ) -> ArtifactVersion | None:
        """What is known about a version of the file; None if there is none."""
        return await self._artifacts().get_artifact_version(
            **self._scope(), filename=filename, version=version
        )

    def _artifacts(self) -> BaseArtifactService:
        return _required(self._invocation_context.artifact_service, "artifact_service")

    def _scope(self) -> dict[str, str]:
        return {**self._users_scope(), "session_id": self._invocation_context.session.id}

    # Memory

    async def search_memory(self, query: str) -> SearchMemoryResponse:
        """What the user's memory holds about `query`."""
        return await self._memory().search_memory(**self._users_scope(), query=query)

    async def add_session_to_memory(self) -> None:
        """Hand this session to the memory."""
        await self._memory().add_session_to_memory(self._invocation_context.session)

    async def add_events_to_memory(
        self, *, events: Sequence[Event], custom_metadata: Mapping[str, object] | None = None
    ) -> None:
        """Hand these events to the memory."""
        await self._memory().add_events_to_memory(
            **self._scope(), events=events, custom_metadata=custom_metadata
        )

    async def add_memory(
        self,
        *,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Write entries into the user's memory."""
        await self._memory().add_memory(
            **self._users_scope(), memories=memories, custom_metadata=custom_metadata
        )

    async def delete_memory(self, memory_id: str | None = None) -> None:
        """Delete an entry of the user's memory."""
        await self._memory().delete_memory(**self._users_scope(), memory_id=memory_id)

    def _memory(self) -> BaseMemoryService:
        return _required(self._invocation_context.memory_service, "memory_service")

    def _users_scope(self) -> dict[str, str]:
        invocation = self._invocation_context
        return {"app_name": invocation.app_name, "user_id": invocation.user_id}

    # Credentials and confirmation

    async def save_credential(self, auth_config: AuthConfig) -> None:
        """Keep the exchanged credential for later calls."""
        await self._credentials().save_credential(auth_config, self)

    async def load_credential(self, auth_config: AuthConfig) -> AuthCredential | None:
        """The kept credential, or None."""
        return await self._credentials().load_credential(auth_config, self)

    def _credentials(self) -> BaseCredentialService:
        return _required(self._invocation_context.credential_service, "credential_service")

    def get_auth_response(self, auth_config: AuthConfig) -> AuthCredential | None:
        """The credential the user gave in answer to a request, or None.

        A login is exchanged for its token here, which waits for its server, for at most 10 s: an
        async tool that must not hold up others uses a `CredentialManager`. ImportError if that
        needs authlib, which is not installed.
        """
        return AuthHandler(auth_config).get_auth_response(self.state)

    def request_credential(self, auth_config: AuthConfig) -> None:
        """Ask the user for a credential for this tool call.

        Raises ValueError outside tool calls, and for a config that the user could not follow;
        TypeError for what is none.
        """
        if not isinstance(auth_config, AuthConfig):
            raise TypeError(
                f"`auth_config` is {given(auth_config)}; give an AuthConfig(auth_scheme=...,"
                " raw_auth_credential=...)."
            )
        call_id = self._call_id("request_credential")
        self._event_actions.requested_auth_configs[call_id] = AuthHandler(
            auth_config
        ).generate_auth_request()

    def request_confirmation(self, *, hint: str | None = None, payload: Any = None) -> None:
        """Ask the user to confirm this tool call; ValueError outside tool calls."""
        call_id = self._call_id("request_confirmation")
        self._event_actions.requested_tool_confirmations[call_id] = ToolConfirmation(
            hint=hint or "", payload=payload
        )

    def _call_id(self, method: str) -> str:
        if not self.function_call_id:
            raise ValueError(f"{method} needs a function call to answer: use it inside a tool.")
        return self.function_call_id

    # User interface

    def render_ui_widget(self, ui_widget: UiWidget) -> None:
        """Let the user interface draw something; ValueError if the event has that id already."""
        widgets = self._event_actions.render_ui_widgets or []
        if any(widget.id == ui_widget.id for widget in widgets):
            raise ValueError(f"This event has a UI widget with the id {ui_widget.id!r} already.")
        self._event_actions.render_ui_widgets = [*widgets, ui_widget]


def _required(service: S | None, name: str) -> S:
    if service is None:
        raise ValueError(f"The Runner has no {name}; give it one to use this.")
    return service
