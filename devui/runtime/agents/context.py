"""`Context`: what callbacks and tools work with (adk-runtime 4.3)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from devui.runtime.auth.auth_handler import AuthHandler
from devui.runtime.auth.auth_tool import AuthConfig
from devui.runtime.events.event_actions import EventActions, ToolConfirmation
from devui.runtime.mistakes import brief
from devui.runtime.sessions.state import State
from devui.runtime.workflow.node_run import run_of_tool

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.run_config import RunConfig
    from devui.runtime.artifacts.base_artifact_service import ArtifactVersion, BaseArtifactService
    from devui.runtime.auth.auth_credential import AuthCredential
    from devui.runtime.auth.credential_service import BaseCredentialService
    from devui.runtime.events.event import Event
    from devui.runtime.events.event_actions import UiWidget
    from devui.runtime.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from devui.runtime.memory.memory_entry import MemoryEntry
    from devui.runtime.sessions.session import Session
    from devui.runtime.workflow.base_node import BaseNode
    from devui.runtime.workflow.node_run import NodeRun, Route


# `ReadonlyContext`: the view that instructions and toolsets get (adk-runtime 4.3).


class ReadonlyContext:
    """Read-only access to the invocation."""

    def __init__(self, invocation_context: InvocationContext) -> None:
        self._invocation_context = invocation_context

    @property
    def user_content(self) -> types.Content | None:
        """The message that began the invocation."""
        return self._invocation_context.user_content

    @property
    def invocation_id(self) -> str:
        """The id of the invocation, shared by all runs that resume it."""
        return self._invocation_context.invocation_id

    @property
    def agent_name(self) -> str:
        """The running agent's name, or else that of the workflow's root, or else `unknown`."""
        agent = self._invocation_context.agent
        root = (self._invocation_context.node_path or "").partition("@")[0]
        return agent.name if agent else root or "unknown"

    @property
    def state(self) -> Any:
        """The session's state, read-only."""
        return MappingProxyType(self._invocation_context.session.state)

    @property
    def session(self) -> Session:
        """The session; shared with the run."""
        return self._invocation_context.session

    @property
    def user_id(self) -> str:
        """The id of the session's user."""
        return self._invocation_context.user_id

    @property
    def run_config(self) -> RunConfig | None:
        """The settings of the run."""
        return self._invocation_context.run_config

    @property
    def custom_metadata(self) -> Mapping[str, Any]:
        """The labels of the run, read-only."""
        return MappingProxyType(self._invocation_context.custom_metadata)

    @property
    def is_aborted(self) -> bool:
        """Whether the invocation was asked to stop."""
        return self._invocation_context.is_aborted

    def get_credential(self, key: str) -> AuthCredential | None:
        """Return the credential that is ready under `key` in this invocation, or None."""
        return self._invocation_context.credential_by_key.get(key)


# What the code of a workflow's node can read and do about its run (adk-runtime 4.3, 12).


logger = logging.getLogger(__name__)


class NodeContext(ReadonlyContext):
    """The part of a Context that is about nodes; outside of nodes, its values are empty."""

    function_call_id: str | None
    _node_run: NodeRun | None
    _tool_run: NodeRun | None = None
    _own_output: Any = None

    @property
    def node_run(self) -> NodeRun | None:
        """The run of the node; None outside of nodes."""
        return self._node_run

    @property
    def node(self) -> BaseNode | None:
        """The running node; None outside of nodes."""
        return self._node_run.node if self._node_run else None

    @property
    def node_path(self) -> str:
        """Where this runs in a tree or workflow: `wf@1/writer@2`. Empty below workflow agents."""
        return self._invocation_context.node_path or ""

    @property
    def run_id(self) -> str:
        """The number or name of the node's run; empty in callbacks, `1` below workflow agents."""
        if self._node_run:
            return self._node_run.run_id
        return "" if self._invocation_context.node_path else "1"

    @property
    def attempt_count(self) -> int:
        """The number of the attempt within the run, from 1."""
        return self._node_run.attempt if self._node_run else 1

    @property
    def parent_ctx(self) -> Context | None:
        """The context of the node that this one is part of; None without one."""
        parent = self._node_run.parent if self._node_run else None
        return parent.context if parent else None

    @property
    def resume_inputs(self) -> dict[str, Any]:
        """The answers to the node's questions, by interrupt id."""
        return self._node_run.resume_inputs if self._node_run else {}

    @property
    def interrupt_ids(self) -> set[str]:
        """The interrupt ids of this run's unanswered questions."""
        return set(self._node_run.interrupts) if self._node_run else set()

    @property
    def error(self) -> Exception | None:
        """The exception that the node raised, if any."""
        return self._node_run.error if self._node_run else None

    @property
    def error_node_path(self) -> str:
        """The path of the failed node, which may be below this one; empty if none failed."""
        return self._node_run.error_path if self._node_run else ""

    @property
    def isolation_scope(self) -> str | None:
        """The scope of the delegated task that this is part of, if any."""
        return self._invocation_context.isolation_scope

    @property
    def output(self) -> Any:
        """The output of the node; a value assigned here is emitted when the node ends.

        In callbacks and tools, an assigned value is kept but has no effect, as in google-adk; a
        warning is logged.

        Raises:
            ValueError: it is assigned a second time.
        """
        return self._node_run.output if self._node_run else self._own_output

    @output.setter
    def output(self, value: Any) -> None:
        if self._node_run:
            self._node_run.give(value)
            return
        if self._own_output is not None:
            raise ValueError("`output` is already set; it can only be set once.")
        logger.warning(
            "`output` was set in a callback or tool, where it has no effect: it is for workflow"
            " nodes. Return a Content or the tool's result, or write to the state."
        )
        self._own_output = value

    @property
    def event_author(self) -> str:
        """The author of the node's events; empty for the node itself.

        Raises:
            RuntimeError: it is assigned outside of a node.
        """
        return self._node_run.author if self._node_run else ""

    @event_author.setter
    def event_author(self, value: str) -> None:
        self._inside("event_author").author = value

    async def run_node(
        self,
        node: Any,
        node_input: Any = None,
        *,
        use_as_output: bool = False,
        run_id: str | None = None,
        use_sub_branch: bool = False,
        override_branch: str | None = None,
        override_isolation_scope: str | None = None,
        raise_on_wait: bool = False,
    ) -> Any:
        """Run a node below this one, or below the agent whose tool this is, and return its output.

        Await the call where it is made. In a resumed invocation, a run that had ended isn't run
        again. A node that runs nodes must be created with `rerun_on_resume=True`; a tool is called
        again.

        Args:
            node: A node, a function, an agent or a tool.
            node_input: Its input.
            use_as_output: Make its output this node's output, too; it is emitted once.
            run_id: An id for the run, with at least one letter; by default, runs are numbered.
            use_sub_branch: Run it on a branch of its own.
            override_branch: The branch to run it on.
            override_isolation_scope: The isolation scope to run it in.
            raise_on_wait: Wait along with a node that isn't finished although it has asked nothing.

        Raises:
            DynamicNodeFailError: the node failed.
            ValueError: this node is not run again on resume, or the run id is a number.
            RuntimeError: this is the context of neither a node nor an async tool.
        """
        run = self._node_run or self._of_tool(run_id)
        return await run.running.run_child(
            run,
            node,
            node_input,
            use_as_output=use_as_output,
            run_id=run_id,
            use_sub_branch=use_sub_branch,
            override_branch=override_branch,
            override_isolation_scope=override_isolation_scope,
            raise_on_wait=raise_on_wait,
        )

    def _of_tool(self, run_id: str | None) -> NodeRun:
        """Return the run below which a tool runs nodes: one for each call."""
        if self._tool_run is None:
            ctx, call_id = self._invocation_context, self.function_call_id
            self._tool_run = run_of_tool(ctx, call_id, run_id)
        return self._tool_run or self._inside("run_node")

    def _inside(self, name: str) -> NodeRun:
        if self._node_run is None:
            also = " and async tools that a model calls" if name == "run_node" else ""
            raise RuntimeError(f"Context.{name} is only available in workflow nodes{also}.")
        return self._node_run


S = TypeVar("S")


class Context(NodeContext):
    """Gives a callback, tool call or node access to state, artifacts, memory and control.

    Changes are collected in `actions`, which the next event carries. Until that event is committed,
    other code of the invocation sees them as dirty reads (runtime seed). `CallbackContext` and
    `ToolContext` are aliases of this class.

    Methods for artifacts, memory and credentials raise ValueError if the Runner has no such
    service, and whatever the service raises.
    """

    # Declared on the class, too, for mocks that use it as their `spec`.
    function_call_id: str | None = None
    """The call that a tool answers; None outside of tools."""
    tool_confirmation: ToolConfirmation | None = None
    """A human's decision on that call, if any."""

    def __init__(
        self,
        invocation_context: InvocationContext,
        *,
        event_actions: EventActions | None = None,
        function_call_id: str | None = None,
        tool_confirmation: ToolConfirmation | None = None,
        node_run: NodeRun | None = None,
    ) -> None:
        """Create a context whose changes go to `event_actions`, or to new ones.

        Args:
            invocation_context: The invocation.
            event_actions: The actions of the event being made.
            function_call_id: The call that a tool answers; None outside of tools.
            tool_confirmation: A human's decision on that call.
            node_run: The run of the node whose context this is.
        """
        super().__init__(invocation_context)
        self._node_run = node_run
        self._given_actions = event_actions
        self._state: State | None = None
        """Created on first use, like the actions; most contexts never need it."""
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
            "The state cannot be replaced; set its keys with state['key'] = ..., or several at once"
            " with state.update(...)."
        )

    @property
    def actions(self) -> EventActions:
        """The actions of the next event, including in-place changes of the state's values."""
        if self._state is not None:
            self._state.has_delta()
        return self._event_actions

    @property
    def _event_actions(self) -> EventActions:
        if self._given_actions is None:
            self._given_actions = EventActions.assemble()
        return self._given_actions

    @property
    def route(self) -> Route | None:
        """Selects the edges to follow after this node; in callbacks and tools, after the agent."""
        run = self._node_run
        return run.route if run else self._event_actions.route

    @route.setter
    def route(self, value: Route) -> None:
        run = self._node_run
        if run:
            # As the event will store it: a tuple becomes a list, an Enum its value.
            run.route, run.route_told = EventActions(route=value).route, False
        else:
            self._event_actions.route = value

    @property
    def branch(self) -> str | None:
        """The branch of the agent that runs."""
        return self._invocation_context.branch

    @property
    def custom_metadata(self) -> dict[str, Any]:
        """The labels of the run. Changes reach code that runs later, but not events."""
        return self._invocation_context.custom_metadata

    def get_invocation_context(self) -> InvocationContext:
        """Return the invocation behind this context."""
        return self._invocation_context

    # Artifacts

    async def save_artifact(
        self,
        filename: str,
        artifact: types.Part,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        """Save a new version of the file, note it in `artifact_delta`, and return its number."""
        version = await self._artifacts().save_artifact(
            **self._scope(), filename=filename, artifact=artifact, custom_metadata=custom_metadata
        )
        self._event_actions.artifact_delta[filename] = version
        return version

    async def load_artifact(self, filename: str, version: int | None = None) -> types.Part | None:
        """Return that version of the file, or the newest; None if it doesn't exist."""
        return await self._artifacts().load_artifact(
            **self._scope(), filename=filename, version=version
        )

    async def list_artifacts(self) -> list[str]:
        """Return the names of the session's and the user's files, sorted."""
        return await self._artifacts().list_artifact_keys(**self._scope())

    async def get_artifact_version(
        self, filename: str, version: int | None = None
    ) -> ArtifactVersion | None:
        """Return the metadata of that version of the file, or the newest; None if there is none."""
        return await self._artifacts().get_artifact_version(
            **self._scope(), filename=filename, version=version
        )

    def _artifacts(self) -> BaseArtifactService:
        return _required(self._invocation_context.artifact_service, "artifact_service")

    def _scope(self) -> dict[str, str]:
        return {**self._users_scope(), "session_id": self._invocation_context.session.id}

    # Memory

    async def search_memory(self, query: str) -> SearchMemoryResponse:
        """Search the user's memory for `query`."""
        return await self._memory().search_memory(**self._users_scope(), query=query)

    async def add_session_to_memory(self) -> None:
        """Add this session to the memory."""
        await self._memory().add_session_to_memory(self._invocation_context.session)

    async def add_events_to_memory(
        self, *, events: Sequence[Event], custom_metadata: Mapping[str, object] | None = None
    ) -> None:
        """Add these events to the memory."""
        await self._memory().add_events_to_memory(
            **self._scope(), events=events, custom_metadata=custom_metadata
        )

    async def add_memory(
        self,
        *,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Add entries to the user's memory."""
        await self._memory().add_memory(
            **self._users_scope(), memories=memories, custom_metadata=custom_metadata
        )

    async def delete_memory(self, memory_id: str | None = None) -> None:
        """Delete an entry from the user's memory."""
        await self._memory().delete_memory(**self._users_scope(), memory_id=memory_id)

    def _memory(self) -> BaseMemoryService:
        return _required(self._invocation_context.memory_service, "memory_service")

    def _users_scope(self) -> dict[str, str]:
        invocation = self._invocation_context
        return {"app_name": invocation.app_name, "user_id": invocation.user_id}

    # Credentials and confirmation

    async def save_credential(self, auth_config: AuthConfig) -> None:
        """Store the exchanged credential for later calls."""
        await self._credentials().save_credential(auth_config, self)

    async def load_credential(self, auth_config: AuthConfig) -> AuthCredential | None:
        """Return the stored credential, or None."""
        return await self._credentials().load_credential(auth_config, self)

    def _credentials(self) -> BaseCredentialService:
        return _required(self._invocation_context.credential_service, "credential_service")

    def get_auth_response(self, auth_config: AuthConfig) -> AuthCredential | None:
        """Return the credential that the user gave in answer to a request, or None.

        A login is exchanged for a token here. That blocks until the server answers, for up to 10 s,
        so an async tool that must not block others should use a `CredentialManager`. Raises
        ImportError if the exchange needs authlib, which isn't installed.
        """
        return AuthHandler(auth_config).get_auth_response(self.state)

    def request_credential(self, auth_config: AuthConfig) -> None:
        """Ask the user for a credential for this tool call.

        Raises ValueError outside tool calls, and for a config that doesn't say where or as which
        client the user can log in; TypeError for anything but an AuthConfig.
        """
        if not isinstance(auth_config, AuthConfig):
            raise TypeError(
                f"`auth_config` is {brief(auth_config)}; pass an AuthConfig(auth_scheme=...,"
                " raw_auth_credential=...)."
            )
        call_id = self._call_id("request_credential")
        self._event_actions.requested_auth_configs[call_id] = AuthHandler(
            auth_config
        ).generate_auth_request()

    def request_confirmation(self, *, hint: str | None = None, payload: Any = None) -> None:
        """Ask the user to confirm this tool call. Raises ValueError outside tool calls."""
        call_id = self._call_id("request_confirmation")
        self._event_actions.requested_tool_confirmations[call_id] = ToolConfirmation(
            hint=hint or "", payload=payload
        )

    def _call_id(self, method: str) -> str:
        if not self.function_call_id:
            raise ValueError(f"{method} needs a function call to respond to: use it in a tool.")
        return self.function_call_id

    # User interface

    def render_ui_widget(self, ui_widget: UiWidget) -> None:
        """Have the UI draw a widget. Raises ValueError if the event has one with its id already."""
        widgets = self._event_actions.render_ui_widgets or []
        if any(widget.id == ui_widget.id for widget in widgets):
            raise ValueError(f"This event already has a UI widget with the id {ui_widget.id!r}.")
        self._event_actions.render_ui_widgets = [*widgets, ui_widget]


def _required(service: S | None, name: str) -> S:
    if service is None:
        raise ValueError(f"The Runner has no {name}; pass it one to use this.")
    return service
