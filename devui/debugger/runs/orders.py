"""What a run is asked to do, beyond what its events tell."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from devui.debugger.runs.settings import settings_json
from devui.wire.engines import ReplayEngine
from devui.wire.settings import RunSettings

_MOST = 1_000_000
"""Characters of what was asked that are kept apart from the events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaying:
    """Which run is executed again, and how."""

    source: str
    """The id of the recorded run."""
    recording: str
    """JSON text of a `Recording`."""
    live_tools: bool = False
    engine: ReplayEngine | None = None
    """Execute it on this engine, note differences and go on; None for the app's own engine."""


def replayed(replay: Replaying | None) -> dict[str, Any]:
    """What of it a `StartRun` says."""
    if replay is None:
        return {}
    return {
        "recording": replay.recording,
        "live_tools": replay.live_tools,
        "other_engine": replay.engine is not None,
    }


def json_text(value: Mapping[str, Any] | None) -> str | None:
    """The value as the worker is told it."""
    return None if value is None else json.dumps(value, ensure_ascii=False)


class RunOrder(Protocol):
    """What a run is started with; a `RunRequest`."""

    @property
    def message(self) -> Mapping[str, Any] | None: ...
    @property
    def invocation(self) -> str | None: ...
    @property
    def state_delta(self) -> Mapping[str, Any] | None: ...
    @property
    def streaming(self) -> bool: ...
    @property
    def custom_metadata(self) -> Mapping[str, Any] | None: ...
    @property
    def service_tier(self) -> str | None: ...
    @property
    def settings(self) -> RunSettings | None: ...
    @property
    def rewind(self) -> str | None: ...


def request_text(request: RunOrder) -> str:
    """What is kept for good of it, as JSON text without what is None; a large message is kept in
    its event alone.
    """
    members = {
        "message": request.message,
        "invocation": request.invocation,
        "stateDelta": request.state_delta,
        "streaming": request.streaming,
        "customMetadata": request.custom_metadata,
        "serviceTier": request.service_tier,
        "settings": settings_json(request.settings),
        "rewind": request.rewind,
    }
    fields = {name: value for name, value in members.items() if value is not None}
    text = json.dumps(fields)
    return text if len(text) <= _MOST else json.dumps({**fields, "message": None})
