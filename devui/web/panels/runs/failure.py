"""Why a run, or other agent code, failed."""

import json
from dataclasses import asdict
from typing import Any

from devui.web.basic_parts import Failure
from devui.web.text.formats import clipped
from devui.web.text.visible import visible
from devui.wire.errors import AgentError


def run_failure(error: str | None) -> Failure | None:
    """The error of a run: JSON text with `type`, `message`, `traceback`, `file`, `line`."""
    if error is None:
        return None
    details = json.loads(error)
    return failure(details) if isinstance(details, dict) else Failure(visible(str(details)))


def agent_failure(error: AgentError) -> Failure:
    """An exception of agent code, as a worker told it."""
    return failure(asdict(error))


def failure(error: dict[str, Any]) -> Failure:
    """An exception of agent code; absent fields are left out."""
    name, message = str(error.get("type") or ""), str(error.get("message") or "")
    file, line = error.get("file"), error.get("line")
    place = f"{file}:{line}" if file and line else str(file or "")
    return Failure(
        message=visible(clipped(": ".join(filter(None, (name, message))))),
        place=visible(place),
        traceback=visible(clipped(str(error.get("traceback") or ""))),
    )
