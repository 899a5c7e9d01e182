"""Executes a recording without server, journal and network: what a test does with it."""

import json
import uuid
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.genai import types

from devui.runtime.agents.run_config import RunConfig, StreamingMode
from devui.runtime.apps.app import App
from devui.runtime.artifacts.in_memory_artifact_service import InMemoryArtifactService
from devui.runtime.auth.credential_service.in_memory_credential_service import (
    InMemoryCredentialService,
)
from devui.runtime.events.event import Event
from devui.runtime.memory.in_memory_memory_service import InMemoryMemoryService
from devui.runtime.plugins.plugin_manager import PluginManager
from devui.runtime.runners import Runner
from devui.runtime.sessions.in_memory_session_service import InMemorySessionService
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.state import State
from devui.runtime.workflow.base_node import BaseNode
from devui.wire.framing import codecs
from devui.wire.recordings import DIVERGED, Recording, ReplayVerdict
from devui.worker.effects import Effects
from devui.worker.faults import agent_error
from devui.worker.output import current_run
from devui.worker.replaying.errors import RecordingEnds
from devui.worker.replaying.replay import Replay
from devui.worker.replaying.replayer import Replayer


@dataclass(slots=True)
class Replayed:
    """What a replay without a server gave."""

    verdict: ReplayVerdict
    events: list[Event] = field(default_factory=list)
    """What it committed, the user's message first; ids and times are new."""
    state: dict[str, Any] = field(default_factory=dict)
    """The session's state at the end, with prefixes."""
    error: str | None = None
    """What it failed with, as `Type: message`; the end of what was recorded is no failure."""


def read_recording(path: Path) -> Recording:
    """A recording from its file. Raises OSError, and ValueError for a file that is none."""
    try:
        recording: Recording = codecs().RECORDING.load(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is no recording of devui: {error}") from error
    return recording


async def replay_headless(
    exported: App | BaseNode,
    recording: Recording,
    *,
    live_tools: bool = False,
    tolerant: bool = False,
) -> Replayed:
    """Execute a recording on an app or a root agent.

    A difference is no exception: the verdict tells it, and the events are those before it. If it is
    tolerant it goes on after one, as long as there are recorded answers.
    """
    run = uuid.uuid4().hex
    replay = Replay(recording, recording.session, live_tools=live_tools, tolerant=tolerant)
    replayer, effects = Replayer(), Effects()
    sessions = _Sessions(replay, effects)
    runner = _runner(exported, recording, sessions)
    plugins = [effects, *runner.plugin_manager.plugins, replayer]
    runner.plugin_manager = PluginManager(plugins)
    await _set_up(runner, sessions, recording)
    token = current_run.set(run)
    replayer.begin(run, replay)
    outcome, error = "done", None
    try:
        await _run(runner, replay)
    # Agent code may raise anything, sys.exit() included; the verdict tells it.
    except BaseException as raised:
        if not isinstance(raised, Exception | SystemExit | BaseExceptionGroup):
            raise
        told = agent_error(raised, Path.cwd())
        outcome, error = "failed", f"{told.type}: {told.message}"
    finally:
        replayer.forget(run)
        current_run.reset(token)
        await runner.close()
    session = await sessions.the_one(recording)
    events = session.events[len(recording.history) :]
    verdict = replay.verdict(outcome, error)
    if isinstance(replay.ended, RecordingEnds):
        error = None
    elif replay.ended is not None:
        error = f"{DIVERGED}: {replay.ended}"
    return Replayed(verdict, events, session.state, error)


class _Sessions(InMemorySessionService):
    """Compares what is committed with the recording."""

    def __init__(self, replay: Replay, effects: Effects) -> None:
        super().__init__()
        self._replay = replay
        self._effects = effects

    async def append_event(self, session: Session, event: Event) -> Event:
        if event.partial or session.id != self._replay.session:
            return await super().append_event(session, event)
        self._effects.note(event)
        self._replay.event(_as_committed(event))
        committed = await super().append_event(session, event)
        self._replay.committed()
        return committed

    async def the_one(self, recording: Recording) -> Session:
        session = await self.get_session(
            app_name=recording.app, user_id=recording.user, session_id=recording.session
        )
        if session is None:
            raise RuntimeError(f"the replayed code deleted the session {recording.session!r}")
        return session


def _runner(exported: App | BaseNode, recording: Recording, sessions: _Sessions) -> Runner:
    app, agent = (exported, None) if isinstance(exported, App) else (None, exported)
    return Runner(
        app=app,
        agent=agent,
        app_name=recording.app,
        session_service=sessions,
        artifact_service=InMemoryArtifactService(),
        memory_service=InMemoryMemoryService(),
        credential_service=InMemoryCredentialService(),
    )


async def _set_up(runner: Runner, sessions: _Sessions, recording: Recording) -> None:
    """The session as it was before the run."""
    where: dict[str, Any] = {
        "app_name": recording.app,
        "user_id": recording.user,
        "session_id": recording.session,
    }
    await sessions.create_session(**where, state=recording.state)
    stored = sessions.sessions[recording.app][recording.user][recording.session]
    # Their changes are in the state already.
    stored.events = [Event.model_validate_json(json.dumps(each)) for each in recording.history]
    saved = {
        item
        for event in recording.history
        for item in ((event.get("actions") or {}).get("artifactDelta") or {}).items()
    }
    artifacts = runner.artifact_service
    for file in recording.files:
        if artifacts is not None and (file.name, file.version) in saved:
            part = types.Part.model_validate_json(json.dumps(file.part))
            await artifacts.save_artifact(**where, filename=file.name, artifact=part)


async def _run(runner: Runner, replay: Replay) -> None:
    recording = replay.recording
    message = recording.message and json.dumps(recording.message)
    mode = StreamingMode.SSE if recording.streaming else StreamingMode.NONE
    events = runner.run_async(
        user_id=recording.user,
        session_id=recording.session,
        invocation_id=recording.invocation,
        new_message=types.Content.model_validate_json(message) if message else None,
        state_delta=recording.state_delta,
        run_config=RunConfig(streaming_mode=mode),
    )
    async with aclosing(events):
        async for event in events:
            if event.partial:
                replay.fragment(event.model_dump_json(by_alias=True, exclude_none=True))


def _as_committed(event: Event) -> str:
    """The event as the journal keeps it: without `temp:` state."""
    delta = event.actions.state_delta
    kept = {k: v for k, v in delta.items() if not k.startswith(State.TEMP_PREFIX)}
    if len(kept) < len(delta):
        event = event.model_copy(
            update={"actions": event.actions.model_copy(update={"state_delta": kept})}
        )
    return event.model_dump_json(by_alias=True, exclude_none=True)
