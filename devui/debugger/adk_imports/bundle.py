"""Converts a google-adk session to the lines of a bundle.

google-adk doesn't store a session's initial state. Keys that no event has written count as initial,
including shared ones. Later changes of shared keys by others are written after the last event, so
that the final state is the stored one.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from devui.debugger.adk_imports.artifacts import ArtifactFolder, Version
from devui.debugger.adk_imports.sources import Head, Notes, SessionSource, States
from devui.debugger.bundles.schema import FORMAT, VERSION
from devui.debugger.bundles.writing import OPENING, compact_json
from devui.wire.events import Event

_METADATA: Final = "__session_metadata__"
"""The state key in which `adk web` keeps a session's name."""
_SCOPES: Final = ("app", "user")


def bundle_lines(
    source: SessionSource, head: Head, files: ArtifactFolder | None, notes: Notes
) -> Iterator[str]:
    """Yield the lines of the session's bundle, with line breaks. Raises Unreadable."""
    states = source.states(head, notes)
    header = {
        "format": FORMAT,
        "version": VERSION,
        "app": head.app,
        "user": head.user,
        "id": head.id,
        "title": _title(states.session),
        "created": head.created,
        "updated": head.updated,
        "forked": [],
        "forks": [],
    }
    yield f"{compact_json(header)[:-1]},{OPENING}\n"
    count = 0
    for record in _records(source, head, states, files, notes):
        yield f"{',' if count else ''}{compact_json(record)}\n"
        count += 1
    yield f"],{compact_json({'count': count, 'redacted': 0})[1:]}\n"


def _records(
    source: SessionSource,
    head: Head,
    states: States,
    files: ArtifactFolder | None,
    notes: Notes,
) -> Iterator[dict[str, Any]]:
    final_state = _final_state(source.events(head, Notes()))
    shared_states = {"app": states.app, "user": states.user}
    for scope in _SCOPES:
        for key, value in shared_states[scope].items():
            if f"{scope}:{key}" not in final_state:
                yield _write(scope, key, value)
    start = {key: value for key, value in states.session.items() if key not in final_state}
    yield {"type": "start", "state": start}
    waiting = files.versions(head) if files else []
    for number, event in enumerate(source.events(head, notes), 1):
        versions, waiting = _saved_before(event, waiting)
        yield from _artifacts(versions, notes)
        record = {"type": "event", "number": number, "run": None, "final": Event.of(event).is_final}
        yield {**record, "event": event}
    yield from _artifacts(waiting, notes)
    for scope in _SCOPES:
        for key, value in shared_states[scope].items():
            if final_state.get(f"{scope}:{key}", value) != value:
                yield _write(scope, key, value)
    for key, value in states.session.items():
        if final_state.get(key, value) != value:
            notes.add(
                f"{source.place}, session {head.id}: the state's value for {key!r} differs from"
                " what its events wrote; devui uses the events' value"
            )


def _final_state(events: Iterator[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the state that the events produce, with prefixed keys."""
    state: dict[str, Any] = {}
    for event in events:
        delta = event["actions"].get("stateDelta")
        state |= delta if isinstance(delta, dict) else {}
    return state


def _saved_before(
    event: Mapping[str, Any], versions: list[Version]
) -> tuple[list[Version], list[Version]]:
    """Split the versions into those that existed when the event was committed, and later ones."""
    delta = event["actions"].get("artifactDelta")
    entries = delta.items() if isinstance(delta, dict) else ()
    delta_versions = {(name, number) for name, number in entries if isinstance(number, int)}
    earlier: list[Version] = []
    later: list[Version] = []
    for each in versions:
        before = each.created <= event["timestamp"] or (each.name, each.number) in delta_versions
        (earlier if before else later).append(each)
    return earlier, later


def _artifacts(versions: list[Version], notes: Notes) -> Iterator[dict[str, Any]]:
    for version in versions:
        record = version.record(notes)
        if record is not None:
            yield record


def _write(scope: str, key: str, value: Any) -> dict[str, Any]:
    return {"type": "write", "scope": scope, "key": key, "value": value}


def _title(state: Mapping[str, Any]) -> str | None:
    metadata = state.get(_METADATA)
    name = metadata.get("displayName") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) and name else None
