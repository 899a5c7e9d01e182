"""`InvocationContext`: everything that one invocation shares (adk-runtime 4.1)."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from pydantic import BaseModel

from devui.runtime.agents.abort_switch import AbortSwitch, Signal
from devui.runtime.agents.agent_tree import NodeRuns, is_below, progress_key
from devui.runtime.agents.base_agent import family
from devui.runtime.agents.invocation_events import (
    InvocationHistory,
    events_of,
    pausing_calls,
)
from devui.runtime.platform.uuid import new_uuid
from devui.runtime.plugins.plugin_manager import PluginManager
from devui.runtime.sessions.session import CommitOrder

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.base_agent import BaseAgent, BaseAgentState
    from devui.runtime.agents.context_cache_config import ContextCacheConfig
    from devui.runtime.agents.run_config import RunConfig
    from devui.runtime.apps.configs import EventsCompactionConfig, ResumabilityConfig
    from devui.runtime.artifacts.base_artifact_service import BaseArtifactService
    from devui.runtime.auth.auth_credential import AuthCredential
    from devui.runtime.auth.credential_service import BaseCredentialService
    from devui.runtime.events.event import Event
    from devui.runtime.memory.base_memory_service import BaseMemoryService
    from devui.runtime.sessions.base_session_service import BaseSessionService
    from devui.runtime.sessions.latest_sessions import LatestSessions
    from devui.runtime.sessions.session import Session
    from devui.runtime.tools.base_tool import BaseTool


# The interface of pydantic models, for a dataclass that other code treats as one.


class _Fields:
    """Computes `model_fields`: the fields of a dataclass that can be given, by name."""

    def __get__(self, instance: object, owner: type[LikeModel]) -> Mapping[str, Field[Any]]:
        return {name: each for name, each in owner.__dataclass_fields__.items() if each.init}


class LikeModel:
    """Gives a dataclass the copying and dumping methods of a pydantic model."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    model_fields: ClassVar[_Fields] = _Fields()
    """The fields that can be given, by name."""

    @classmethod
    def model_construct(cls, _fields_set: set[str] | None = None, **values: Any) -> Self:
        """Create an instance: missing fields become None, unknown ones are ignored."""
        missing = {name: None for name, each in cls.model_fields.items() if _is_needed(each)}
        fields = {name: value for name, value in values.items() if name in cls.model_fields}
        return cls(**missing | fields)

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        """Return a shallow copy with some fields replaced. Raises TypeError on unknown fields."""
        clone = copy.copy(self)
        for name, value in (update or {}).items():
            if name not in self.__dataclass_fields__:
                raise TypeError(f"{type(self).__name__} has no field {name!r}.")
            setattr(clone, name, value)
        return clone

    def model_dump(
        self,
        *,
        include: Container[str] | None = None,
        exclude: Container[str] = (),
        **how: Any,
    ) -> dict[str, Any]:
        """Return the fields as a dict, with models dumped by `how` and other values unchanged."""
        return {
            name: value.model_dump(**how) if isinstance(value, BaseModel) else value
            for name, value in ((name, vars(self)[name]) for name in self.model_fields)
            if (include is None or name in include) and name not in exclude
        }


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


# What an invocation has cost so far (adk-runtime 4.1).


class LlmCallsLimitExceededError(Exception):
    """The invocation made more model calls than `RunConfig.max_llm_calls` allows."""


@dataclass(slots=True)
class InvocationCosts:
    """Counts the model calls of one invocation, in a member named as in google-adk."""

    _number_of_llm_calls: int = 0

    def count(self, run_config: RunConfig | None, invocation_id: str, hand_overs: int) -> None:
        """Count a model call. Raises LlmCallsLimitExceededError beyond the run's limit."""
        self._number_of_llm_calls += 1
        limit = run_config.max_llm_calls if run_config else 0
        if 0 < limit < self._number_of_llm_calls:
            circle = (
                f" Agents have transferred to one another {hand_overs} times in a row: if they"
                " go in circles, say in their instructions which one has the last word."
            )
            raise LlmCallsLimitExceededError(
                f"Invocation {invocation_id} would make more than {limit} model calls; "
                f"raise RunConfig.max_llm_calls if that is intended.{circle * (hand_overs > 1)}"
            )


INTERNAL_METADATA = "__adk_internal_"
"""The prefix of custom-metadata keys that are reserved for the runtime (adk-runtime 1.4)."""


class LatestAnswer:
    """The user's latest message in an invocation, if it answers function calls.

    It is needed at each step, so only new events are read; committed ones don't change.
    """

    def __init__(self) -> None:
        self._event: Event | None = None
        self._events: Sequence[Event] = ()
        self._count = 0
        """How many events have been read."""
        self.ignored: Event | None = None
        """A user's event that is skipped, because it says nothing new."""

    def among(self, events: Sequence[Event], invocation_id: str) -> Event | None:
        """Return the user's latest event in the invocation, if it answers a call; else None.

        Each call must pass the same invocation.
        """
        count = len(events)
        if events is self._events and count == self._count:
            return self._event
        if events is not self._events or count < self._count:
            self._event, self._count = None, 0
        # From the end: a session may be long, but its last invocation usually isn't.
        for number in range(count - 1, self._count - 1, -1):
            event = events[number]
            is_own = event.author == "user" and event.invocation_id == invocation_id
            if is_own and event is not self.ignored:
                self._event = event if event.get_function_responses() else None
                break
        self._events, self._count = events, count
        return self._event


@dataclass(slots=True)
class _Shared:
    """The mutable state that all copies of a context share."""

    costs: InvocationCosts = field(default_factory=InvocationCosts)
    abort_switch: AbortSwitch = field(default_factory=AbortSwitch)
    begun_at: int | None = None
    begun_with: int = 0
    resumed_at: int | None = None
    resumed_with_answer: bool = False
    told_of: Exception | None = None
    tried_again: dict[tuple[str, str | None, str | None], int] = field(default_factory=dict)
    seen_through: set[str] = field(default_factory=set)
    spoken_to: str | None = None
    node_runs: NodeRuns = field(default_factory=NodeRuns)
    questions: dict[str, str] = field(default_factory=dict)
    beginning: tuple[Sequence[Event], int] = ((), 0)
    history: InvocationHistory | None = None
    latest_answer: LatestAnswer = field(default_factory=LatestAnswer)
    commit_order: CommitOrder = field(default_factory=CommitOrder)


@dataclass(kw_only=True, eq=False)
class InvocationContext(LikeModel):
    """The services, the session and the progress of one invocation.

    Each agent runs with its own copy (`model_copy`). Copies share the session, the dicts and
    the counters; plain values such as `branch` and `end_invocation` belong to the copy.
    """

    artifact_service: BaseArtifactService | None = None
    """Stores files; None if the app has no artifact service."""
    session_service: BaseSessionService
    """Stores the session."""
    memory_service: BaseMemoryService | None = None
    """Stores memories; None if the app has no memory service."""
    credential_service: BaseCredentialService | None = None
    """Stores credentials; None if the app has no credential service."""
    context_cache_config: ContextCacheConfig | None = None
    """The app's settings for caching requests at the provider."""
    invocation_id: str
    """The id on all events of the invocation: `e-` and a UUID."""
    branch: str | None = None
    """The path of agents, joined by dots, whose events this agent sees; None sees all."""
    isolation_scope: str | None = None
    """The scope of the task being carried out; its agent sees only the events of this scope."""
    agent: BaseAgent | None = None
    """The agent that runs with this copy."""
    user_content: types.Content | None = None
    """The message that began the invocation."""
    session: Session
    """The conversation, with all events committed so far."""
    node_path: str | None = None
    """The agent's place in the run or in a graph: `root@1/sub@1`."""
    agent_states: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Checkpoints by agent name (resume seed)."""
    end_of_agents: dict[str, bool] = field(default_factory=dict)
    """Whether each agent has ended, by name (resume seed)."""
    callbacks_left: set[str] = field(default_factory=set)
    """Names of agents that only have their failed `after_agent_callback` left to run (devui's)."""
    hand_overs: int = 0
    """How many agents have handed over before this one, each within the run of the previous one."""
    handed_over: bool = False
    """Whether the agent has handed over its turn; later errors belong to another agent."""
    end_invocation: bool = False
    """Set by a callback or tool to end the agent that runs with this copy."""
    delegating: bool = False
    """Whether a call of the agent's model stays open: to an agent that has a task or waits for the
    user, or to nodes that wait. The agent continues once the call is done."""
    task_output: Any = None
    """The output of the agent's own task, once the task is finished."""
    emit: Callable[[Event], Awaitable[None]] | None = None
    """Commits an event of a running tool; returns once it is committed. None outside of tools."""
    run_child: Callable[..., Awaitable[Any]] | None = None
    """Runs a node below another; `Context.run_node` calls it."""
    outlines: LatestSessions | None = None
    """The Runner's cache of its sessions' summaries; without it, each session is read again."""
    live_request_queue: Any = None
    """Live mode, which is left out: never set."""
    transcription_cache: list[Any] | None = None
    """Live mode: the transcript so far."""
    live_session_resumption_handle: str | None = None
    """Live mode: the handle for resuming a connection."""
    input_realtime_cache: list[Any] | None = None
    """Live mode: the user's audio."""
    output_realtime_cache: list[Any] | None = None
    """Live mode: the model's audio."""
    run_config: RunConfig | None = None
    """The settings of the run; None means the defaults."""
    resumability_config: ResumabilityConfig | None = None
    """The app's setting, behind `is_resumable`."""
    events_compaction_config: EventsCompactionConfig | None = None
    """When the app's old events are summarized."""
    token_compaction_checked: bool = False
    """Whether this run has checked the size of its prompt."""
    plugin_manager: PluginManager = field(default_factory=PluginManager)
    """The hooks of the app's plugins."""
    canonical_tools_cache: list[BaseTool] | None = None
    """The agent's tools, resolved once per step."""
    credential_by_key: dict[str, AuthCredential] = field(default_factory=dict)
    """Credentials that are ready to be sent in this invocation, by `credential_key`."""

    custom_metadata: dict[str, Any] = field(default_factory=dict, init=False, repr=False)
    """The run's labels and those that callbacks added; events get only those of `run_config`."""
    _shared: _Shared = field(default_factory=_Shared, init=False, repr=False)

    def __post_init__(self) -> None:
        """Copy the run's labels, except those that are reserved for the runtime."""
        self.custom_metadata = public_metadata(self.run_config)

    @property
    def app_name(self) -> str:
        """The app that the session belongs to."""
        return self.session.app_name

    @property
    def user_id(self) -> str:
        """The user that the session belongs to."""
        return self.session.user_id

    @property
    def state(self) -> NoReturn:
        """Raises AttributeError with the alternative; only callbacks and tools have `state`."""
        raise AttributeError("InvocationContext has no `state`; use ctx.session.state.")

    @property
    def is_resumable(self) -> bool:
        """Whether agents record checkpoints (resume seed)."""
        return self.resumability_config is not None and self.resumability_config.is_resumable

    @property
    def is_aborted(self) -> bool:
        """Whether someone asked the invocation to stop at the next opportunity."""
        return self._shared.abort_switch.is_set()

    def abort(self) -> None:
        """Stop the invocation and set the caller's `abort_signal`; callable from any thread."""
        self._shared.abort_switch.set()

    def attach_abort_signal(self, signal: Signal) -> None:
        """Let the caller's signal abort this invocation, too."""
        self._shared.abort_switch.attach(signal)

    @property
    def abort_switch(self) -> AbortSwitch:
        """The switch that stops the invocation."""
        return self._shared.abort_switch

    @property
    def resumed_at(self) -> int | None:
        """How many events the session had when this invocation was resumed; None if it is new."""
        return self._shared.resumed_at

    @property
    def has_begun(self) -> bool:
        """Whether the invocation continues earlier work: resumed, or with a message for a task."""
        return self._shared.begun_at is not None

    @property
    def is_spoken_to(self) -> bool:
        """Whether this run's message is for the agent, which carries out a task."""
        scope = self.isolation_scope
        return scope is not None and self._shared.spoken_to == scope

    @property
    def begun_at(self) -> int | None:
        """How many events the session had when the agent resumed its work.

        None if it starts anew, or if the user's message tells it how to continue.
        """
        start = self._shared.begun_at
        return None if start is None or self.is_spoken_to else start

    @property
    def begun_with(self) -> int:
        """How many events of this invocation existed when the run began."""
        return self._shared.begun_with

    @property
    def spoken_to_at(self) -> int | None:
        """How many events the session had when the user spoke to the agent; None if nobody has."""
        return self._shared.begun_at if self.is_spoken_to else None

    @property
    def history(self) -> InvocationHistory:
        """The events of this invocation so far, and its open calls."""
        shared, place = self._shared, (self.session.events, self.invocation_id)
        if shared.history is None:
            events, begins_at = shared.beginning
            start = begins_at if events is self.session.events else 0
            shared.history = InvocationHistory(*place, start)
        return shared.history.up_to_date(*place)

    @property
    def latest_answer(self) -> Event | None:
        """The user's latest message in this invocation, if it answers function calls."""
        return self._shared.latest_answer.among(self.session.events, self.invocation_id)

    @property
    def waits_for_answers(self) -> bool:
        """Whether an agent waits for its open calls; otherwise its model continues without them."""
        bare = self.resumed_at is not None and not self._shared.resumed_with_answer
        return self.is_resumable or bare

    @property
    def node_runs(self) -> NodeRuns:
        """The runs of this invocation's agents, counted by place."""
        return self._shared.node_runs

    @property
    def questions(self) -> dict[str, str]:
        """The nodes that have asked questions since the run began, by interrupt id."""
        return self._shared.questions

    def in_order(self, event: Event) -> Event:
        """Return the event to commit, dated after the last one even if the clock says otherwise."""
        return self._shared.commit_order.put(self.session, event)

    def is_news(self, error: Exception) -> bool:
        """Return whether the history doesn't record the error yet; the caller is about to."""
        is_known = self._shared.told_of is error
        self._shared.told_of = error
        return not is_known

    def try_again(self, name: str) -> None:
        """Record that an agent or a node is retried.

        An error that it raises then counts as new, even the same object, and its model doesn't wait
        for the results of calls of the failed attempt.
        """
        self._shared.told_of = None
        self._shared.tried_again[name, self.node_path, self.branch] = len(self.session.events)

    def tried_again_at(self, name: str) -> int | None:
        """Return how many events the session had when the agent was last retried, or None.

        A retry of an agent or node that it works for counts, too.
        """
        places = [
            at
            for (who, path, branch), at in self._shared.tried_again.items()
            if (who, path, branch) == (name, self.node_path, self.branch)
            or is_below(self.node_path, path, "/")
            or is_below(self.branch, branch, ".")
        ]
        return max(places, default=None)

    def see_through(self, transfer: Event) -> None:
        """Record that the transferring agent itself runs the target."""
        self._shared.seen_through.add(transfer.id)

    def is_seen_through(self, transfer: Event) -> bool:
        """Return whether the transferring agent itself runs the target."""
        return transfer.id in self._shared.seen_through

    def begins_at(self, place: int) -> None:
        """Record that no event of the session before that index belongs to this invocation."""
        self._shared.beginning = self.session.events, place

    def mark_resumed(self, *, with_answer: bool) -> None:
        """Record that the invocation is resumed from its history, with or without an answer."""
        self._shared.resumed_at = self._shared.begun_at = len(self.session.events)
        self._shared.begun_with = len(self.history.events)
        self._shared.resumed_with_answer = with_answer

    def ignore(self, repeated: Event | None) -> None:
        """Record that this event of the user, if any, says nothing new."""
        self._shared.latest_answer.ignored = repeated

    def is_ignored(self, event: Event) -> bool:
        """Return whether this event of the user says nothing new."""
        return event is self._shared.latest_answer.ignored

    def mark_spoken_to(self, scope: str) -> None:
        """Record that the user speaks to the agent of the task with that scope."""
        self._shared.spoken_to = scope
        self._shared.begun_at = len(self.session.events)
        self._shared.begun_with = len(self.history.events)

    def set_agent_state(
        self,
        agent_name: str,
        *,
        agent_state: BaseAgentState | None = None,
        end_of_agent: bool = False,
    ) -> None:
        """Record the agent's end or its checkpoint; given neither, forget both."""
        key = self.agent_state_key(agent_name)
        self.callbacks_left.discard(key)
        if end_of_agent:
            self.end_of_agents[key] = True
            self.agent_states.pop(key, None)
        elif agent_state is not None:
            self.agent_states[key] = agent_state.model_dump(mode="json")
            self.end_of_agents[key] = False
        else:
            self.end_of_agents.pop(key, None)
            self.agent_states.pop(key, None)

    def agent_state_key(self, agent_name: str) -> str:
        """Return the key of the agent's progress: its path as a node of a graph, else its name."""
        return progress_key(self.agent, self.node_path, agent_name)

    def reset_sub_agent_states(self, agent_name: str) -> None:
        """Forget the progress of all descendants of the named agent."""
        agent = self.agent.find_agent(agent_name) if self.agent else None
        for sub_agent in agent.sub_agents if agent else ():
            self.set_agent_state(sub_agent.name)
            self.reset_sub_agent_states(sub_agent.name)

    def populate_invocation_agent_states(self) -> None:
        """Restore the agents' progress from the events of this invocation, if it is resumable.

        An agent that spoke without leaving a checkpoint has started, so it gets an empty one.
        """
        if self.is_resumable:
            restore(self)

    def increment_llm_call_count(self) -> None:
        """Count a model call. Raises LlmCallsLimitExceededError beyond the run's limit."""
        self._shared.costs.count(self.run_config, self.invocation_id, self.hand_overs)

    @property
    def _invocation_cost_manager(self) -> InvocationCosts:
        return self._shared.costs  # google-adk's name, for code that reads it

    def should_pause_invocation(self, event: Event) -> bool:
        """Return whether the event has a call that a human or a job answers later."""
        return bool(pausing_calls(event))

    def _get_events(
        self, *, current_invocation: bool = False, current_branch: bool = False
    ) -> list[Event]:
        return events_of(
            self.session.events,
            invocation_id=self.invocation_id if current_invocation else None,
            branch=self.branch if current_branch else None,
        )


def public_metadata(run_config: RunConfig | None) -> dict[str, Any]:
    """Return the labels of a run, without keys reserved for the runtime."""
    metadata = run_config.custom_metadata if run_config else None
    return {k: v for k, v in (metadata or {}).items() if not k.startswith(INTERNAL_METADATA)}


def new_invocation_context_id() -> str:
    """Return a new invocation id."""
    return f"e-{new_uuid()}"


# The progress of agents, restored from the events of a resumed invocation (resume seed).


def forget(ctx: InvocationContext, agent: BaseAgent) -> None:
    """Forget the progress of the agent and its descendants, so that they start over."""
    for member in family(agent):
        ctx.set_agent_state(member.name)


def restore(ctx: InvocationContext) -> None:
    """Replay the checkpoints of the invocation into `ctx`.

    An agent that spoke without leaving a checkpoint has started, so it gets an empty one. An agent
    that is given the turn starts anew, so its earlier records are forgotten: the rounds of a loop,
    and repeated transfers to an agent, leave several.
    """
    root = ctx.agent.root_agent if ctx.agent else None
    latest: dict[str | None, Event] = {}  # by branch
    for event in ctx.history.events:
        key = progress_key(root, event.node_info.path, event.author)
        called_back = ctx.end_of_agents.get(key) and _is_after_end(event, latest)
        latest[event.branch] = event
        if event.actions.end_of_agent:
            ctx.end_of_agents[key] = True
            ctx.agent_states.pop(key, None)
            ctx.callbacks_left.discard(key)
        elif event.actions.agent_state is not None:
            ctx.agent_states[key] = event.actions.agent_state
            ctx.end_of_agents[key] = False
        elif called_back:
            if event.error_code:
                _has_started(ctx, key)
                ctx.callbacks_left.add(key)
        elif event.author != "user" and event.content and not ctx.agent_states.get(key):
            _has_started(ctx, key)
        for agent in _next_agents(event, root) if root else ():
            forget(ctx, agent)


def _has_started(ctx: InvocationContext, key: str) -> None:
    ctx.agent_states[key] = {}
    ctx.end_of_agents[key] = False


def _is_after_end(event: Event, latest: Mapping[str | None, Event]) -> bool:
    """Return whether the event records the callback that ran after its agent's end."""
    before = latest.get(event.branch)
    if before is None or before.author != event.author:
        return False
    return bool(before.actions.end_of_agent)


def _next_agents(event: Event, root: BaseAgent) -> list[BaseAgent]:
    """Return the agents that start after this event."""
    if target := event.actions.transfer_to_agent:
        recipient = root.find_agent(target)
        return [recipient] if recipient else []
    state = event.actions.agent_state
    agent = None if state is None else root.find_agent(event.author)
    if state is None or agent is None:
        return []
    if not state:  # a parallel agent's state: all its sub-agents start
        return list(agent.sub_agents)
    current = state.get("current_sub_agent")
    return [sub_agent for sub_agent in agent.sub_agents if sub_agent.name == current]
