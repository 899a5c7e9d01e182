"""Replays a recording without server, journal and network, as tests do."""

import json
import uuid
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from google.genai import types

from devui.runtime.plugins.base_plugin import BasePlugin
from devui.runtime.sessions.state import State
from devui.wire.framing import codecs
from devui.wire.gates import Verdict
from devui.wire.recordings import DIVERGED, Recording, ReplayVerdict
from devui.worker.engines.choice import kit_of
from devui.worker.engines.kit import (
    App,
    BaseNode,
    Event,
    InMemorySessionService,
    Kit,
    Session,
)
from devui.worker.errors import agent_error
from devui.worker.instruments.gates import revise_event
from devui.worker.json_text import as_json
from devui.worker.message_files import report, save_files
from devui.worker.output import current_run
from devui.worker.replay.comparison import Ids
from devui.worker.replay.interventions import RecordedEdits, RecordedEditsAfter, RecordedEditsBefore
from devui.worker.replay.plugin import Replayer
from devui.worker.replay.replay import RecordingEnds, Replay
from devui.worker.run_settings import RequestSettings, SettingsOfRuns
from devui.worker.tools import Effects


@dataclass(slots=True)
class HeadlessReplay:
    """The result of a replay without a server."""

    verdict: ReplayVerdict
    events: list[Event] = field(default_factory=list)
    """The committed events, the user's message first; ids and times are new."""
    state: dict[str, Any] = field(default_factory=dict)
    """The session's final state, with prefixes."""
    error: str | None = None
    """The error, as `Type: message`; reaching the end of the recording doesn't count as one."""
    ids: Ids = field(default_factory=Ids)
    """Maps between ids of the replay and recorded ones."""


def read_recording(path: Path) -> Recording:
    """Read a recording from its file. Raises OSError, and ValueError for an invalid file."""
    try:
        recording: Recording = codecs().RECORDING.load(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path} is not a devui recording: {error}") from error
    return recording


async def replay_headless(
    exported: App | BaseNode,
    recording: Recording,
    *,
    live_tools: bool = False,
    tolerant: bool = False,
) -> HeadlessReplay:
    """Replay a recording on an app or a root agent.

    A difference raises no exception: the verdict describes it, and the events are those before it.
    A `tolerant` replay continues after a difference as long as there are recorded answers.
    """
    run, kit = uuid.uuid4().hex, kit_of(exported)
    replay = Replay(recording, recording.session, kit, live_tools=live_tools, tolerant=tolerant)
    replayer, headless = Replayer(kit), Headless(exported, recording, replay, kit)
    replayer.begin(run, replay)
    try:
        outcome, error = await headless.execute(run, [replayer], replay.recorded_edits)
    finally:
        replayer.forget(run)
    session = await headless.session()
    events = session.events[len(recording.history) :]
    verdict = replay.verdict(outcome, error)
    if isinstance(replay.end, RecordingEnds):
        error = None
    elif replay.end is not None:
        error = f"{DIVERGED}: {replay.end}"
    return HeadlessReplay(verdict, events, session.state, error, replay.ids)


class ReplayListener(Protocol):
    """Receives a run's events, as JSON text, and may end the run by raising."""

    def fragment(self, text: str) -> None:
        """Handle a partial event."""

    def event(self, text: str) -> Verdict | None:
        """Handle an event before its commit; return what is to be done to it first, if anything."""

    def committed(self) -> None:
        """Handle the commit of the event."""


class Headless:
    """Executes a recorded run once, with the recorded input, in a session in memory."""

    def __init__(
        self, exported: App | BaseNode, recording: Recording, hearing: ReplayListener, kit: Kit
    ) -> None:
        """`exported` is the app or root agent to run."""
        self._recording = recording
        self._hearing = hearing
        self._effects = Effects()
        self._kit = kit
        sessions = kit.derive(_Sessions, kit.in_memory_session_service)
        self._sessions = sessions(recording.session, hearing, self._effects, kit)
        self._runner = kit.runner(
            exported,
            app_name=recording.app,
            session_service=self._sessions,
            artifact_service=kit.in_memory_artifact_service(),
        )

    async def execute(
        self, run: str, inner: Sequence[BasePlugin], edits: RecordedEdits
    ) -> tuple[str, str | None]:
        """Execute the run under this id, with `inner` plugins inside the app's own.

        `edits` repeats the recorded edits.

        Returns outcome and error, as in a Recording.
        """
        runner = self._runner
        before = [self._effects, RecordedEditsAfter(lambda: edits, self._kit)]
        settings = SettingsOfRuns()
        if self._recording.settings:
            settings.begin(run, self._recording.settings)
        after = [RequestSettings(settings), RecordedEditsBefore(lambda: edits, self._kit)]
        self._kit.chain(runner, before, after, inner)
        await self._set_up()
        token = current_run.set(run)
        try:
            await self._run()
        # Agent code may raise anything, sys.exit() included; the verdict reports it.
        except BaseException as error:
            if not isinstance(error, Exception | SystemExit | BaseExceptionGroup):
                raise
            failure = agent_error(error, Path.cwd())
            return "failed", f"{failure.type}: {failure.message}"
        finally:
            current_run.reset(token)
            await runner.close()
        return "done", None

    async def session(self) -> Session:
        """Return the session in its current state."""
        return await self._sessions.the_one(self._recording)

    async def file(self, name: str, version: int) -> dict[str, Any] | None:
        """Return a version of a file in wire form; None if it doesn't exist."""
        artifacts = self._runner.artifact_service
        part = artifacts and await artifacts.load_artifact(
            **_where(self._recording), filename=name, version=version
        )
        return json.loads(as_json(part)) if part else None

    async def _set_up(self) -> None:
        """Restore the session from before the run."""
        recording, sessions = self._recording, self._sessions
        where = _where(recording)
        await sessions.create_session(**where, state=recording.state)
        session = sessions.sessions[recording.app][recording.user][recording.session]
        # The recorded state includes their changes.
        session.events = [self._kit.read_event(json.dumps(each)) for each in recording.history]
        versions = {
            item
            for event in recording.history
            for item in ((event.get("actions") or {}).get("artifactDelta") or {}).items()
        }
        artifacts = self._runner.artifact_service
        for file in recording.files:
            if artifacts is not None and (file.name, file.version) in versions:
                part = types.Part.model_validate_json(json.dumps(file.part))
                await artifacts.save_artifact(**where, filename=file.name, artifact=part)

    async def _run(self) -> None:
        recording = self._recording
        text = recording.message and json.dumps(recording.message)
        message = types.Content.model_validate_json(text) if text else None
        if recording.save_files and message is not None:
            service = self._runner.artifact_service
            where = _where(recording)
            message, self._sessions.saved_files = await save_files(service, message, **where)
        events = self._runner.run_async(
            user_id=recording.user,
            session_id=recording.session,
            invocation_id=recording.invocation,
            new_message=message,
            state_delta=recording.state_delta,
            run_config=self._kit.run_config(
                streaming=recording.streaming,
                custom_metadata=recording.custom_metadata,
                service_tier=recording.service_tier,
            ),
        )
        async with aclosing(events):
            async for event in events:
                if event.partial:
                    self._hearing.fragment(event.model_dump_json(by_alias=True, exclude_none=True))


class _Sessions(InMemorySessionService):
    """Passes on what is committed to the session with this id."""

    def __init__(self, session: str, hearing: ReplayListener, effects: Effects, kit: Kit) -> None:
        super().__init__()
        self._kit = kit
        self._session = session
        self._hearing = hearing
        self._effects = effects
        self.saved_files: dict[str, int] = {}
        """The files that the next message says were saved with it."""

    async def append_event(self, session: Session, event: Event) -> Event:
        if event.partial or session.id != self._session:
            return await super().append_event(session, event)
        if report(event, self.saved_files):
            self.saved_files = {}
        self._effects.note(event)
        while verdict := self._hearing.event(_as_committed(event)):
            delta = set(event.actions.state_delta)
            if verdict.action == "drop":
                self._undo(session, delta)
                return event
            revise_event(self._kit, event, verdict)
            self._undo(session, delta - set(event.actions.state_delta))
        committed = await super().append_event(session, event)
        self._hearing.committed()
        return committed

    def _undo(self, session: Session, keys: set[str]) -> None:
        """Reset these keys of the live state to their committed values."""
        original = self.sessions[session.app_name][session.user_id][session.id]
        for key in keys:
            if key in original.state:
                session.state[key] = original.state[key]
            else:
                session.state.pop(key, None)

    async def the_one(self, recording: Recording) -> Session:
        session = await self.get_session(
            app_name=recording.app, user_id=recording.user, session_id=recording.session
        )
        if session is None:
            raise RuntimeError(f"the replayed code deleted the session {recording.session!r}")
        return session


def _where(recording: Recording) -> dict[str, Any]:
    return {
        "app_name": recording.app,
        "user_id": recording.user,
        "session_id": recording.session,
    }


def _as_committed(event: Event) -> str:
    """Return the event as the journal stores it: without `temp:` state."""
    delta = event.actions.state_delta
    rest = {k: v for k, v in delta.items() if not k.startswith(State.TEMP_PREFIX)}
    if len(rest) < len(delta):
        event = event.model_copy(
            update={"actions": event.actions.model_copy(update={"state_delta": rest})}
        )
    return event.model_dump_json(by_alias=True, exclude_none=True)
