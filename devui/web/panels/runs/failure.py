"""Why a run, or other agent code, failed."""

import json
from dataclasses import asdict
from typing import Any

from devui.web.basic_parts import Failure
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import clipped
from devui.wire.errors import AgentError, frames
from devui.wire.events import Event


def run_failure(error: str | None) -> Failure | None:
    """Return a run's error from JSON text: `type`, `message`, `traceback`, `file`, `line`."""
    if error is None:
        return None
    details = json.loads(error)
    return failure(details) if isinstance(details, dict) else Failure(visible(str(details)))


def event_failure(event: Event, run_error: str | None) -> Failure | None:
    """Return the error of the run if it is what the event reports.

    An event has neither the place nor the traceback of an exception. A model's error isn't an
    exception, and its run may end with a different one.
    """
    details = json.loads(run_error) if run_error else None
    line = str(event.error_message or event.error_code or "").partition("\n")[0]
    if not isinstance(details, dict) or not line:
        return None
    text = "\n".join(str(details.get(name)) for name in ("type", "message", "traceback"))
    return failure(details) if line in text else None


def agent_failure(error: AgentError) -> Failure:
    """Return an exception of agent code, as a worker reported it."""
    return failure(asdict(error))


def failure(error: dict[str, Any]) -> Failure:
    """Return an exception of agent code; absent fields are left out."""
    name, message = str(error.get("type") or ""), str(error.get("message") or "")
    file, line = error.get("file"), error.get("line")
    traceback = str(error.get("traceback") or "")
    place = f"{file}:{line}{_function(traceback, file, line)}" if file and line else str(file or "")
    return Failure(
        message=visible(clipped(": ".join(filter(None, (name, message))))),
        place=visible(place),
        traceback=visible(clipped(traceback)),
    )


def _function(traceback: str, file: str, line: int) -> str:
    """Return ` in get_rate`, the line's function in the traceback; "" outside of functions."""
    at = [each for each in frames(traceback) if each.line == line and each.file.endswith(file)]
    function = at[-1].function if at else ""
    return f" in {function}" if function and not function.startswith("<") else ""
