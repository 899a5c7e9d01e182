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
        """Id of the invocation."""
        return self._invocation_context.invocation_id

    @property
    def agent_name(self) -> str:
        """Name of the agent, or else the root of the workflow, that runs; or `unknown`."""
        agent = self._invocation_context.agent
        root = (self._invocation_context.node_path or "").partition("@")[0]
        return agent.name if agent else root or "unknown"

    @property
    def state(self) -> Any:
        """The session's state, read-only."""
        return MappingProxyType(self._invocation_context.session.state)

    @property
    def session(self) -> Session:
        """The session."""
        return self._invocation_context.session

    @property
    def user_id(self) -> str:
        """Id of the user."""
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
        """The credential resolved in this invocation under `key`."""
        return self._invocation_context.credential_by_key.get(key)


# What the code of a workflow's node knows and does about its run (adk-runtime 4.3, 12).


logger = logging.getLogger(__name__)


class NodeContext(ReadonlyContext):
    """The part of a Context that is about nodes; outside of a node there is nothing in it."""

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
        """The node that runs."""
        return self._node_run.node if self._node_run else None

    @property
    def node_path(self) -> str:
        """Where in a tree or workflow this runs, `wf@1/writer@2`; empty below workflow agents."""
        return self._invocation_context.node_path or ""

    @property
    def run_id(self) -> str:
        """Which run of the node it is; in callbacks empty, and `1` below workflow agents."""
        if self._node_run:
            return self._node_run.run_id
        return "" if self._invocation_context.node_path else "1"

    @property
    def attempt_count(self) -> int:
        """Which attempt of the run it is, from 1 on."""
        return self._node_run.attempt if self._node_run else 1

    @property
    def parent_ctx(self) -> Context | None:
        """The context of the node that this one is part of."""
        parent = self._node_run.parent if self._node_run else None
        return parent.context if parent else None

    @property
    def resume_inputs(self) -> dict[str, Any]:
        """The answers to what the node has asked, by interrupt id."""
        return self._node_run.resume_inputs if self._node_run else {}

    @property
    def interrupt_ids(self) -> set[str]:
        """What the node has asked in this run."""
        return set(self._node_run.interrupts) if self._node_run else set()

    @property
    def error(self) -> Exception | None:
        """What the node raised."""
        return self._node_run.error if self._node_run else None

    @property
    def error_node_path(self) -> str:
        """The path of the node that failed, which may be one below this."""
        return self._node_run.error_path if self._node_run else ""

    @property
    def isolation_scope(self) -> str | None:
        """The scope of the delegated task that this is part of."""
        return self._invocation_context.isolation_scope

    @property
    def output(self) -> Any:
        """The output of the node; assigned, it is told when the node has ended.

        In callbacks and tools it is kept, and nobody takes it, as in google-adk; a warning says so.

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
            raise ValueError("`output` was already set; it may be set once.")
        logger.warning(
            "`output` was assigned in a callback or tool, where nobody takes it: it is for nodes of"
            " a workflow. Return a content, or the tool's result, or write the state."
        )
        self._own_output = value

    @property
    def event_author(self) -> str:
        """Who signs the events of the node; empty for the node itself.

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
        """Run a node below this one, or below the agent whose tool this is; returns its output.

        Await it right here. In an invocation that goes on, a run that had ended is not run again.
        A node that runs nodes has to be made with `rerun_on_resume=True`; a tool is called again.

        Args:
            node: A node, a function, an agent or a tool.
            node_input: Its input.
            use_as_output: Its output is that of this node, too, and told once.
            run_id: An id for the run, with at least one letter; by default they are numbered.
            use_sub_branch: Run it on a branch of its own.
            override_branch: The branch to run it on.
            override_isolation_scope: The isolation scope to run it in.
            raise_on_wait: Wait together with a node that waits for more without having asked.

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
        """What the nodes are run below that a tool runs: one for all of a call."""
        if self._tool_run is None:
            ctx, call_id = self._invocation_context, self.function_call_id
            self._tool_run = run_of_tool(ctx, call_id, run_id)
        return self._tool_run or self._inside("run_node")

    def _inside(self, name: str) -> NodeRun:
        if self._node_run is None:
            also = " and for async tools that a model calls" if name == "run_node" else ""
            raise RuntimeError(
                f"Context.{name} is for the nodes of a workflow{also}; this is the context of"
                " something else."
            )
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
            self._given_actions = EventActions.assemble()
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
                f"`auth_config` is {brief(auth_config)}; give an AuthConfig(auth_scheme=...,"
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
