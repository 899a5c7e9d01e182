"""`Runner`: the event loop between agents and the world (runtime seed; adk-runtime 3)."""

import asyncio
import contextvars
import logging
import sys
from collections.abc import AsyncGenerator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from typing import Any, NoReturn, Self, TypeVar

from google.genai import types

from devui.runtime.agents.abort_switch import Signal
from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.agents.invocation_context import InvocationContext, new_invocation_context_id
from devui.runtime.agents.run_config import RunConfig
from devui.runtime.apps.app import App
from devui.runtime.artifacts.base_artifact_service import BaseArtifactService
from devui.runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from devui.runtime.auth.credential_service import BaseCredentialService
from devui.runtime.closing import take_all
from devui.runtime.errors import AlreadyExistsError, SessionNotFoundError
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.invocations.agent_choice import OpenTasks, last_speaker
from devui.runtime.invocations.loop import label, message_for, run_with_hooks
from devui.runtime.invocations.messages import (
    AnsweredCalls,
    check_speaks,
    events_so_far,
    find_answer,
    original_message,
    user_message,
    with_files_saved,
)
from devui.runtime.invocations.resumption import node_of_turn
from devui.runtime.invocations.rewinding import rewind_event
from devui.runtime.invocations.toolsets import close_toolsets
from devui.runtime.left_out import explanation
from devui.runtime.memory.base_memory_service import BaseMemoryService
from devui.runtime.memory.in_memory_memory_service import InMemoryMemoryService
from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.plugins.plugin_manager import PluginManager
from devui.runtime.runner_settings import (
    app_of,
    check_services,
    check_session_id,
    config_of,
    texts,
    yes_or_no,
)
from devui.runtime.sessions.base_session_service import BaseSessionService, given_state
from devui.runtime.sessions.in_memory_session_service import InMemorySessionService
from devui.runtime.sessions.latest_sessions import InvocationPlaces, LatestSessions
from devui.runtime.sessions.session import CommitOrder, Session
from devui.runtime.telemetry.switch import instruments
from devui.runtime.workflow.base_node import BaseNode
from devui.runtime.workflow.dynamic import run_child

# Drives an async generator from sync code, step by step (adk-runtime 3.6).


T = TypeVar("T")


def stepped(items: AsyncGenerator[T, None]) -> Generator[T, None, None]:
    """Yield the items one by one; the async side runs only while an item is awaited.

    It has its own event loop and thread, so this also works where a loop is already running. It
    has the caller's context variables, so a tool that runs another agent passes on its trace.
    Closing this generator closes `items`; exceptions of that propagate.
    """
    context = contextvars.copy_context()

    async def step() -> T:
        return await anext(items)

    with ThreadPoolExecutor(1, thread_name_prefix="devui-run") as thread:
        runner = asyncio.Runner()
        try:
            while True:
                try:
                    item = thread.submit(runner.run, step(), context=context).result()
                except StopAsyncIteration:
                    return
                yield item
        finally:
            try:
                thread.submit(runner.run, _closed(items), context=context).result()
            finally:
                thread.submit(runner.close).result()


async def _closed(items: AsyncGenerator[T, None]) -> None:
    await items.aclose()


# Prints events as lines of text, for a terminal (adk-runtime 3.6).


def print_event(event: Event, *, verbose: bool = False) -> None:
    """Print what the event says, as `run_debug` does (adk-runtime 3.6)."""
    sys.stdout.write(_transcript(event, verbose=verbose))


def _transcript(event: Event, *, verbose: bool) -> str:
    """Return what the event says, one line per part; calls and results only if `verbose`."""
    if event.partial:
        return ""
    parts = (event.content.parts if event.content else None) or []
    lines = [line for part in parts for line in _lines(part, verbose)]
    if event.error_code:
        lines.append(f"[error {event.error_code}] {event.error_message or ''}".rstrip())
    return "".join(f"{event.author} > {line}\n" for line in lines)


def _lines(part: types.Part, verbose: bool) -> Iterator[str]:
    if part.text and not part.thought:
        yield part.text
    if verbose and part.function_call:
        yield f"[call] {part.function_call.name}({part.function_call.args})"
    if verbose and part.function_response:
        yield f"[result] {part.function_response.name}: {part.function_response.response}"


logger = logging.getLogger(__name__)


class Runner:
    """Runs invocations of an app: takes a message, commits the agents' events, yields them.

    The contract of the loop (runtime seed) is the same for every root agent: an agent's code after
    `yield` runs only once the event has been committed and the caller has asked for the next one.
    A partial event is yielded at once and never committed.
    """

    def __init__(
        self,
        *,
        app: App | None = None,
        app_name: str | None = None,
        agent: BaseNode | None = None,
        node: BaseNode | None = None,
        plugins: list[BasePlugin] | None = None,
        artifact_service: BaseArtifactService | None = None,
        session_service: BaseSessionService,
        memory_service: BaseMemoryService | None = None,
        credential_service: BaseCredentialService | None = None,
        plugin_close_timeout: float = 5.0,
        auto_create_session: bool = False,
    ) -> None:
        """Set up the runner of an app, or of a root agent with the name of its app.

        Args:
            app: The app. Alternatively, pass `agent` and `app_name`.
            app_name: The app whose sessions to use; overrides the app's own name.
            agent: The root: an agent, or a Workflow or another node.
            node: Like `agent`; `app_name` defaults to its name.
            plugins: The plugins, if the app is given by its agent.
            artifact_service: Stores artifacts; None for an app without artifacts.
            session_service: Stores sessions.
            memory_service: Stores memories; None for an app without memories.
            credential_service: Stores credentials; None for an app without credentials.
            plugin_close_timeout: How long each plugin may take to close, in seconds.
            auto_create_session: Whether to create requested sessions that don't exist.
        """
        self.app = app_of(app=app, app_name=app_name, agent=agent, node=node, plugins=plugins)
        self.app_name = app_name or self.app.name
        check_services(
            session_service=session_service,
            artifact_service=artifact_service,
            memory_service=memory_service,
            credential_service=credential_service,
        )
        self.agent = self.app.root_agent
        self.artifact_service = artifact_service
        self.session_service = session_service
        self.memory_service = memory_service
        self.credential_service = credential_service
        self.context_cache_config = self.app.context_cache_config
        self.resumability_config = self.app.resumability_config
        self.auto_create_session = yes_or_no("auto_create_session", auto_create_session)
        self._open_tasks = OpenTasks()
        self._invocation_places = InvocationPlaces()
        self._session_outlines = LatestSessions()
        self.plugin_manager = PluginManager(self.app.plugins, plugin_close_timeout)

    def run_async(
        self,
        *,
        user_id: str,
        session_id: str,
        invocation_id: str | None = None,
        new_message: types.Content | None = None,
        state_delta: dict[str, Any] | None = None,
        run_config: RunConfig | None = None,
        yield_user_message: bool = False,
        abort_signal: Signal | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Run one invocation and yield its events, each after its commit.

        Args:
            user_id: The owner of the session.
            session_id: The session.
            invocation_id: An invocation to resume; with a new message, the id of the new one.
            new_message: The user's message, or answers to function calls that wait for them.
            state_delta: State changes, committed with the message.
            run_config: Settings of this run.
            yield_user_message: Whether to yield the user's event, too, before the others.
            abort_signal: An `asyncio.Event` that stops the run, cancelling work in progress.
                If the root is a workflow agent, its sub-agents continue to their next event.

        Raises SessionNotFoundError, InvocationNotFoundError, ValueError for a message that can't be
        accepted, and whatever an agent raises. Cancelling the task, or closing this generator,
        closes the generators of all active agents.
        """
        config = config_of(run_config)
        events = self._turn(
            user_id,
            session_id,
            config,
            invocation_id=invocation_id,
            new_message=new_message,
            state_delta=state_delta,
            yield_user_message=yield_user_message,
            abort_signal=abort_signal,
        )
        spans = instruments()
        return events if spans is None else spans.turn(self.agent, session_id, config, events)

    async def _turn(
        self,
        user_id: str,
        session_id: str,
        config: RunConfig,
        *,
        invocation_id: str | None,
        new_message: types.Content | None,
        state_delta: dict[str, Any] | None,
        yield_user_message: bool,
        abort_signal: Signal | None,
    ) -> AsyncGenerator[Event, None]:
        message = user_message(new_message) if new_message else None
        if message is None and invocation_id is None:
            check_speaks(self.agent)
        session = await self._run_session(user_id, session_id, config)
        answer = find_answer(message, session.events)
        if answer is None and message is not None and invocation_id is None:
            answer = self._open_tasks.spoken_to(self.agent, session)
        ctx = self._begun_turn(session, message, answer, invocation_id=invocation_id, config=config)
        if abort_signal is not None:
            ctx.attach_abort_signal(abort_signal)
        node = node_of_turn(ctx, self.agent, answer, self._find_agent_to_run)
        if node is None and answer is None:
            return
        if answer is None and ctx.user_content is not message:
            message = None  # a resumed invocation continues with the message it began with
        user_event = await self._commit_message(ctx, message, answer, state_delta)
        if user_event is not None and yield_user_message:
            yield user_event
        if node is None:
            return  # the invocation is already complete; the answer is kept
        if answer is not None and answer.says_nothing:
            ctx.ignore(user_event)
        async with aclosing(run_with_hooks(ctx, node)) as events:
            async for event in events:
                yield event

    def run(
        self,
        *,
        user_id: str,
        session_id: str,
        new_message: types.Content,
        state_delta: dict[str, Any] | None = None,
        run_config: RunConfig | None = None,
    ) -> Generator[Event, None, None]:
        """Run an invocation like `run_async`, from sync code such as scripts and tests."""
        return stepped(
            self.run_async(
                user_id=user_id,
                session_id=session_id,
                new_message=new_message,
                state_delta=state_delta,
                run_config=run_config,
            )
        )

    async def run_debug(
        self,
        user_messages: str | list[str],
        *,
        user_id: str = "debug_user_id",
        session_id: str = "debug_session_id",
        run_config: RunConfig | None = None,
        quiet: bool = False,
        verbose: bool = False,
    ) -> list[Event]:
        """Send one or several messages in a session created for them; return all events.

        Prints what is said, and with `verbose` also calls and results, unless `quiet`.
        """
        where: dict[str, Any] = {"user_id": user_id, "session_id": session_id}
        config, find = config_of(run_config).get_session_config, self.session_service.get_session
        if not await find(app_name=self.app_name, **where, config=config):
            await self.session_service.create_session(app_name=self.app_name, **where)
        all_events: list[Event] = []
        for text in texts("user_messages", user_messages):
            message = types.Content(role="user", parts=[types.Part(text=text)])
            if not quiet:
                sys.stdout.write(f"user > {text}\n")
            async for event in self.run_async(**where, new_message=message, run_config=run_config):
                all_events.append(event)
                if not quiet:
                    print_event(event, verbose=verbose)
        return all_events

    def run_live(self, *_: object, **__: object) -> NoReturn:
        """Raise NotImplementedError, which names the alternative: live mode isn't supported."""
        raise NotImplementedError(explanation("live"))

    async def rewind_async(
        self,
        *,
        user_id: str,
        session_id: str,
        rewind_before_invocation_id: str,
        run_config: RunConfig | None = None,
    ) -> None:
        """Return a session to its state before an invocation (adk-runtime 3.6).

        The history keeps everything; models and later runs don't see what was taken back. The
        session's state and files are restored; those of the user and the app stay unchanged.

        Raises SessionNotFoundError or InvocationNotFoundError.
        """
        config = config_of(run_config).model_copy(update={"get_session_config": None})
        session = await self._run_session(user_id, session_id, config)
        event = await rewind_event(session, rewind_before_invocation_id, self.artifact_service)
        event = CommitOrder().put(session, event)
        await self.session_service.append_event(session=session, event=event)

    async def close(self) -> None:
        """Close toolsets, then plugins, and flush sessions; then raise the first error, if any."""
        toolsets = partial(close_toolsets, self.agent)
        await take_all([toolsets, self.plugin_manager.close, self.session_service.flush])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run_session(self, user_id: str, session_id: str, config: RunConfig) -> Session:
        check_session_id(session_id)
        where: dict[str, Any] = {"app_name": self.app_name, "user_id": user_id}
        where["session_id"] = session_id
        sessions, session_config = self.session_service, config.get_session_config
        session = await sessions.get_session(**where, config=session_config)
        if session is None and self.auto_create_session:
            try:
                return await sessions.create_session(**where)
            except AlreadyExistsError:  # another runner was faster
                session = await sessions.get_session(**where, config=session_config)
        if session is not None:
            return session
        raise SessionNotFoundError(
            f"App {self.app_name!r} has no session {session_id!r} for user {user_id!r}; "
            "create it first, or pass auto_create_session=True to the Runner."
        )

    def _begun_turn(
        self,
        session: Session,
        message: types.Content | None,
        answer: AnsweredCalls | None,
        *,
        invocation_id: str | None,
        config: RunConfig,
    ) -> InvocationContext:
        """Return the context of a new invocation, or of a resumed one with its progress."""
        if answer is not None:
            if invocation_id not in {None, answer.invocation_id}:
                logger.warning("The message answers another invocation; resuming that one.")
            invocation_id = answer.invocation_id
        place = self._invocation_places.place_of(session, invocation_id)
        own = events_so_far(invocation_id, session, place, is_needed=message is None)
        scope = answer.scope if answer and answer.in_words else None
        reads_words = scope and isinstance(self.agent, BaseAgent)  # a graph has one input
        original = None if reads_words else original_message(own)
        ctx = self._new_invocation_context(
            session,
            invocation_id=invocation_id,
            new_message=original or message,
            run_config=config,
        )
        ctx.begins_at(place)
        if scope:
            ctx.mark_spoken_to(scope)
        elif own:
            ctx.mark_resumed(with_answer=answer is not None and not answer.says_nothing)
        return ctx

    def _new_invocation_context(
        self,
        session: Session,
        *,
        invocation_id: str | None = None,
        new_message: types.Content | None = None,
        live_request_queue: object = None,
        run_config: RunConfig | None = None,
    ) -> InvocationContext:
        """Create the context of an invocation; subclasses may create one of their own class."""
        return InvocationContext(
            artifact_service=self.artifact_service,
            session_service=self.session_service,
            memory_service=self.memory_service,
            credential_service=self.credential_service,
            context_cache_config=self.context_cache_config,
            invocation_id=invocation_id or new_invocation_context_id(),
            agent=self.agent if isinstance(self.agent, BaseAgent) else None,
            user_content=new_message,
            session=session,
            live_request_queue=live_request_queue,
            run_config=run_config or RunConfig(),
            resumability_config=self.resumability_config,
            events_compaction_config=self.app.events_compaction_config,
            plugin_manager=self.plugin_manager,
            run_child=run_child,
            outlines=self._session_outlines,
        )

    def _find_agent_to_run(self, session: Session, root_agent: BaseAgent) -> BaseAgent:
        """Return the agent for the next turn; may be overridden.

        It isn't called for a message that answers function calls.
        """
        return last_speaker(root_agent, session.events)

    async def _commit_message(
        self,
        ctx: InvocationContext,
        message: types.Content | None,
        answer: AnsweredCalls | None,
        state_delta: dict[str, Any] | None,
    ) -> Event | None:
        """Append the message, with the state changes that came with it, to the history."""
        if message is None and not state_delta:
            return None
        if message is not None:
            message = await self._accepted(ctx, message)
        event = Event(
            invocation_id=ctx.invocation_id,
            author="user",
            branch=answer.branch if answer else None,
            isolation_scope=answer.scope if answer else None,
            content=message,
            actions=EventActions(state_delta=dict(given_state(state_delta, "state_delta"))),
        )
        label(ctx, event)
        event = ctx.in_order(event)
        return await self.session_service.append_event(session=ctx.session, event=event)

    async def _accepted(self, ctx: InvocationContext, message: types.Content) -> types.Content:
        """Return the message as changed by plugins and settings."""
        changed = await message_for(ctx, message)
        if ctx.user_content is message:
            ctx.user_content = changed
        config, files = ctx.run_config, self.artifact_service
        if config and config.save_input_blobs_as_artifacts and files:
            return await with_files_saved(changed, ctx.invocation_id, ctx.session, files)
        return changed


class InMemoryRunner(Runner):
    """A Runner that keeps sessions, artifacts and memories in this process; see `Runner`."""

    def __init__(
        self,
        agent: BaseNode | None = None,
        *,
        node: BaseNode | None = None,
        app_name: str | None = None,
        plugins: list[BasePlugin] | None = None,
        app: App | None = None,
        plugin_close_timeout: float = 5.0,
    ) -> None:
        super().__init__(
            app=app,
            app_name=app_name or (None if app else "InMemoryRunner"),
            agent=agent,
            node=node,
            plugins=plugins,
            artifact_service=InMemoryArtifactService(),
            session_service=InMemorySessionService(),
            memory_service=InMemoryMemoryService(),
            plugin_close_timeout=plugin_close_timeout,
        )
