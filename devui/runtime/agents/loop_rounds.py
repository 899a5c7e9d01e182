"""How far a loop was when something below it began to wait (devui's own).

An app that is not resumable records no checkpoints; so the event that the loop waits for tells.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from devui.runtime.events.event import Event

_ROUNDS = "__adk_internal_rounds"
"""Key of custom metadata: for each loop above the agent, by name, what `Waiting` has."""


class Waiting(NamedTuple):
    """Where a loop waits."""

    round: int
    """How many rounds had ended."""
    escalated: bool
    """Whether a sub-agent had escalated before, in the same round."""


def note_waiting(event: "Event", loop: str, waiting: Waiting) -> None:
    """Note on the event, which is not yet committed, where the loop waits for it."""
    metadata = event.custom_metadata or {}
    rounds = {**metadata.get(_ROUNDS, {}), loop: list(waiting)}
    event.custom_metadata = {**metadata, _ROUNDS: rounds}


def noted_waiting(event: "Event", loop: str) -> Waiting | None:
    """Where the loop waits for the event; None if it does not."""
    noted = (event.custom_metadata or {}).get(_ROUNDS, {}).get(loop)
    return None if noted is None else Waiting(*noted)
