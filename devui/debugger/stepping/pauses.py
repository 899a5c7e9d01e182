"""How long a run was held between one event and the next."""

from collections.abc import Callable
from dataclasses import dataclass, field

from devui.wire.messages import Append


@dataclass(slots=True)
class Pauses:
    """The pauses of one run; an event is as old as its arrival, before it is held itself."""

    held: Callable[[], float]
    """For how many seconds the run was held by now."""
    _arrived: dict[int, float] = field(default_factory=dict)
    """By request, how long that was when the event arrived."""
    _told: float = 0.0

    def take(self, message: object) -> None:
        """Note when an event asks to be committed; one that was edited while held is no newer."""
        if not isinstance(message, Append):
            return
        first = self._arrived.popitem()[1] if message.revised and self._arrived else self.held()
        self._arrived[message.id] = first

    def before(self, message: Append) -> float:
        """Seconds of holding between the event before and this one, which is committed now."""
        held = self._arrived.pop(message.id, self._told)
        seconds, self._told = max(held - self._told, 0.0), max(held, self._told)
        return seconds
