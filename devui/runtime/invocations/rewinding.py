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
    """Return the event that takes back the invocation and everything after it.

    Nothing is deleted: the event hides what it takes back, resets the session's keys to the values
    they had, and names new versions of the session's files with the old content. What belongs to
    the user or the app stays as it is.

    Raises:
        InvocationNotFoundError: The session has no such invocation.
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
        f"Session {session.id!r} has no invocation {invocation_id!r} to rewind to. Pass the"
        " invocation_id of one of its events."
    )


def _state_delta(session: Session, before: Sequence[Event]) -> dict[str, Any]:
    """Return the values that the session's keys had; None for keys that didn't exist.

    Keys that no event has written are left alone. Those with which a session was created get that
    value back if its service remembers it.
    """
    state, then = session.state, _state(session, before)
    restored = {key: value for key, value in then.items() if state.get(key) != value}
    written_keys = {key for event in session.events for key in event.actions.state_delta}
    absent_keys = (key for key in state if key in written_keys and key not in then)
    return restored | {key: None for key in absent_keys if not key.startswith(_OTHER_SCOPES)}


def _state(session: Session, before: Sequence[Event]) -> dict[str, Any]:
    """Return the session's own keys as the events left them; writing None removes a key."""
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
    """Save the files that changed since then as they were before; return the new versions."""
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
    """Create an empty file, which loads as no file."""
    return types.Part(inline_data=types.Blob(data=b"", mime_type="application/octet-stream"))
