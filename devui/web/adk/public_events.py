"""Events as clients get them, and as they take them in (adk-runtime 1.4).

In `customMetadata` the runtime keeps marks of its own, such as that a node has ended. Nobody else
writes them, and they do not leave the server over the API; the journal and its pages have them.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

_INTERNAL: Final = "__adk_internal_"
RESTORED: Final = f"{_INTERNAL}restored_event"
"""Marks an event that came from outside with the session it began."""


def public_event(text: str) -> str:
    """The JSON of an event without the runtime's own marks; most have none and stay as they are."""
    if f'"{_INTERNAL}' not in text:
        return text
    event = json.loads(text)
    metadata = event.get("customMetadata")
    if not isinstance(metadata, Mapping):
        return text
    public = _public(metadata)
    if public:
        event["customMetadata"] = public
    else:
        del event["customMetadata"]
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


def mark_restored(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """The metadata of an event that a session begins with: marks can be no client's."""
    return {**_public(metadata or {}), RESTORED: True}


def _public(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if not key.startswith(_INTERNAL)}
