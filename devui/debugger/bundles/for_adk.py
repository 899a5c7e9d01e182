"""Converts a bundle to session JSON as google-adk's API returns it, or as `adk web` imports it.

Both are made from the lines of a bundle, so that there is only one place that redacts secrets.
"""

from collections.abc import AsyncIterator
from typing import Any, Final, Literal

from devui.debugger.bundles.writing import compact_json, values_of
from devui.debugger.events.shape import no_actions

AdkFormat = Literal["adk", "adk-web"]
FORMATS: Final[tuple[AdkFormat, ...]] = ("adk", "adk-web")
_OWN: Final = frozenset(
    {"adk_request_confirmation", "adk_request_credential", "adk_request_input"},
)
"""Calls that google-adk makes itself; `adk web` doesn't import them."""


async def adk_session(lines: AsyncIterator[str], adk_format: AdkFormat) -> AsyncIterator[str]:
    """Yield the pieces of the session's JSON, in order.

    `adk` has everything that google-adk's Session has. `adk-web` leaves out what its import
    rejects: actions (their effects are already in the state), long-running calls and ADK's own
    calls.
    """
    values = values_of(lines)
    header = await anext(values)
    head = {"id": header["id"], "appName": header["app"], "userId": header["user"]}
    yield f"{compact_json(head)[:-1]},{compact_json('events')}:["
    state: dict[str, Any] = {}
    count = 0
    async for record in values:
        if record["type"] == "start":
            state |= record["state"]
        elif record["type"] == "write":
            scope = record["scope"]
            state[f"{scope}:{record['key']}"] = record["value"]
        elif record["type"] == "event":
            event = record["event"]
            state |= (event.get("actions") or {}).get("stateDelta") or {}
            result = event if adk_format == "adk" else _acceptable(event)
            if result is not None:
                yield f"{',' if count else ''}{compact_json(result)}"
                count += 1
    yield f"],{compact_json({'state': state, 'lastUpdateTime': header['updated']})[1:]}\n"


def _acceptable(event: dict[str, Any]) -> dict[str, Any] | None:
    """Return the event as `adk web` accepts it; None if nothing is left of it."""
    fields = {name: value for name, value in event.items() if name != "longRunningToolIds"}
    fields["actions"] = no_actions()
    content = event.get("content")
    if not isinstance(content, dict) or not (parts := content.get("parts")):
        return fields
    other_parts = [part for part in parts if not _is_own(part)]
    fields["content"] = {**content, "parts": other_parts}
    return fields if other_parts else None


def _is_own(part: dict[str, Any]) -> bool:
    call = part.get("functionCall") or part.get("functionResponse") or {}
    return call.get("name") in _OWN
