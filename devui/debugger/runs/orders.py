"""The parts of a run's request that aren't in its events."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from devui.debugger.runs.options import settings_json
from devui.wire.engines import ReplayEngine
from devui.wire.settings import RunSettings

_MOST = 1_000_000
"""How many characters of a request are stored apart from the events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOrder:
    """The recorded run to execute again, and how."""

    source: str
    """The id of the recorded run."""
    recording: str
    """JSON text of a `Recording`."""
    live_tools: bool = False
    engine: ReplayEngine | None = None
    """The engine to use, noting differences and continuing; None for the app's own engine."""


def replayed(replay: ReplayOrder | None) -> dict[str, Any]:
    """Return the fields of `StartRun` for a replay."""
    if replay is None:
        return {}
    return {
        "recording": replay.recording,
        "live_tools": replay.live_tools,
        "other_engine": replay.engine is not None,
    }


def json_text(value: Mapping[str, Any] | None) -> str | None:
    """Return the value as JSON text for the worker."""
    return None if value is None else json.dumps(value, ensure_ascii=False)


class RunOrder(Protocol):
    """The members of a `RunRequest` that are stored."""

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
    def save_files(self) -> bool: ...
    @property
    def settings(self) -> RunSettings | None: ...
    @property
    def rewind(self) -> str | None: ...


def request_text(request: RunOrder) -> str:
    """Return what is stored of a request, as JSON text without None values.

    A large message is stored only in its event.
    """
    members = {
        "message": request.message,
        "invocation": request.invocation,
        "stateDelta": request.state_delta,
        "streaming": request.streaming,
        "customMetadata": request.custom_metadata,
        "serviceTier": request.service_tier,
        "saveFiles": request.save_files or None,
        "settings": settings_json(request.settings),
        "rewind": request.rewind,
    }
    fields = {name: value for name, value in members.items() if value is not None}
    text = json.dumps(fields)
    return text if len(text) <= _MOST else json.dumps({**fields, "message": None})
