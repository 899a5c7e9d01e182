"""In which round a loop was when something below it began to wait (devui's own).

An app that is not resumable records no checkpoints; so the event that the loop waits for tells.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from devui.runtime.events.event import Event

_ROUNDS = "__adk_internal_rounds"
"""Key of custom metadata: for each loop above the agent, by name, how many rounds had ended."""


def note_round(event: "Event", loop: str, number: int) -> None:
    """Note on the event, which is not yet committed, how many rounds of the loop had ended."""
    metadata = event.custom_metadata or {}
    rounds = {**metadata.get(_ROUNDS, {}), loop: number}
    event.custom_metadata = {**metadata, _ROUNDS: rounds}


def noted_round(event: "Event", loop: str) -> int | None:
    """How many rounds of the loop had ended; None if the loop did not wait for the event."""
    number = (event.custom_metadata or {}).get(_ROUNDS, {}).get(loop)
    return number if isinstance(number, int) else None
