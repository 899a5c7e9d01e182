"""Converts events that clients get and send (adk-runtime 1.4).

The runtime keeps its own marks in `customMetadata`, such as that a node has ended. Nobody else may
write them, and the API doesn't return them; only the journal and the pages have them.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

_INTERNAL: Final = "__adk_internal_"
RESTORED: Final = f"{_INTERNAL}restored_event"
"""Marks an event that a client supplied when it created the session."""


def public_event(text: str) -> str:
    """Return the JSON of an event without the runtime's own marks, which most events don't have."""
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
    """Mark the metadata of an event that a session starts with; drop marks from the client."""
    return {**_public(metadata or {}), RESTORED: True}


def _public(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if not key.startswith(_INTERNAL)}
