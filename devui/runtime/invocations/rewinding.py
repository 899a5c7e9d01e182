"""Takes a session back to before an invocation (adk-runtime 3.6)."""

from collections.abc import Sequence
from typing import Any

from google.genai import types

from devui.runtime.agents.invocation_context import new_invocation_context_id
from devui.runtime.artifacts.base_artifact_service import USER_PREFIX, BaseArtifactService
from devui.runtime.errors import InvocationNotFoundError
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions
from devui.runtime.sessions.session import Session
from devui.runtime.sessions.state import State, detached

_OTHER_SCOPES = (State.APP_PREFIX, State.USER_PREFIX, State.TEMP_PREFIX)


async def rewind_event(
    session: Session, invocation_id: str, artifacts: BaseArtifactService | None
) -> Event:
    """The event that takes back the invocation and all that came after it.

    Nothing is deleted: the event hides what came before it, gives the session's keys the values
    they had, and names new versions of the session's files with the old content. What belongs to
    the user or the app stays as it is.

    Raises:
        InvocationNotFoundError: the session has no such invocation.
    """
    begin = _begin(session, invocation_id)
    before, since = session.events[:begin], session.events[begin:]
    return Event(
        invocation_id=new_invocation_context_id(),
        author="user",
        actions=EventActions(
            rewind_before_invocation_id=invocation_id,
            state_delta=_state_delta(session, before),
            artifact_delta=await _restored_files(session, artifacts, before, since)
            if artifacts
            else {},
        ),
    )


def _begin(session: Session, invocation_id: str) -> int:
    for index, event in enumerate(session.events):
        if event.invocation_id == invocation_id:
            return index
    raise InvocationNotFoundError(
        f"Session {session.id!r} has no invocation {invocation_id!r} to rewind to. Give the"
        " invocation_id of one of its events."
    )


def _state_delta(session: Session, before: Sequence[Event]) -> dict[str, Any]:
    """The session's keys with the values they had; None: there was none.

    Keys that no event has written are left alone. Those a session was created with get that value
    back where its service remembers it.
    """
    state, then = session.state, _state(session, before)
    restored = {key: value for key, value in then.items() if state.get(key) != value}
    written_keys = {key for event in session.events for key in event.actions.state_delta}
    absent_keys = (key for key in state if key in written_keys and key not in then)
    return restored | {key: None for key in absent_keys if not key.startswith(_OTHER_SCOPES)}


def _state(session: Session, before: Sequence[Event]) -> dict[str, Any]:
    """What the events made of the session's own keys; to write None is to remove a key."""
    state = detached(session._initial_state or {})
    for event in before:
        state.update(event.actions.state_delta)
    return {
        key: value
        for key, value in state.items()
        if value is not None and not key.startswith(_OTHER_SCOPES)
    }


async def _restored_files(
    session: Session,
    artifacts: BaseArtifactService,
    before: Sequence[Event],
    since: Sequence[Event],
) -> dict[str, int]:
    """Save the files that changed since once more, as they were; returns the new versions."""
    then = _versions(before)
    restored = {}
    for name, version in {**then, **_versions(since)}.items():
        if name.startswith(USER_PREFIX) or then.get(name) == version:
            continue
        scope = {"app_name": session.app_name, "user_id": session.user_id}
        file: dict[str, Any] = {**scope, "session_id": session.id, "filename": name}
        content = None
        if name in then:
            content = await artifacts.load_artifact(**file, version=then[name])
        restored[name] = await artifacts.save_artifact(**file, artifact=content or _nothing())
    return restored


def _versions(events: Sequence[Event]) -> dict[str, int]:
    versions: dict[str, int] = {}
    for event in events:
        versions.update(event.actions.artifact_delta)
    return versions


def _nothing() -> types.Part:
    """An empty file, which loads as none at all."""
    return types.Part(inline_data=types.Blob(data=b"", mime_type="application/octet-stream"))
