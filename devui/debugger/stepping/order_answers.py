"""The answers to orders that were carried out, so that repeating an order has no second effect.

They outlive their run: a client that got no answer asks again, and the run may be over by then.
"""

from collections import OrderedDict
from dataclasses import replace
from typing import Any, Final

from devui.debugger.background.memory_size import bytes_of
from devui.debugger.stepping.commands import CallOrder, Command, InvalidCommand

Order = Command | CallOrder

_MOST_ORDERS: Final = 4096
_BYTES: Final = 16 * 1024 * 1024


class OrderAnswers:
    """The newest orders of all runs by run and key, bounded by number and by bytes."""

    def __init__(self) -> None:
        self._answers: OrderedDict[tuple[str, str], tuple[Order, dict[str, Any], int]]
        self._answers = OrderedDict()
        self._bytes = 0

    def answer_to(self, run: str, order: Order) -> dict[str, Any] | None:
        """Return the answer to an order that was already carried out, else None.

        A repeated command may name another position, since its sender may have looked again.
        Raises InvalidCommand if the key was used for a different order.
        """
        entry = self._answers.get((run, order.key))
        if entry is None:
            return None
        if _without_position(entry[0]) != _without_position(order):
            raise InvalidCommand(
                f"key {order.key!r} was already used for {entry[0].name!r}: use a new key"
            )
        return entry[1]

    def remember(self, run: str, order: Order, answer: dict[str, Any]) -> None:
        """Keep the answer for repetitions, evicting the oldest answers if there is no room."""
        size = bytes_of(order) + bytes_of(answer)
        self._answers[run, order.key] = (order, answer, size)
        self._bytes += size
        while len(self._answers) > 1 and (
            len(self._answers) > _MOST_ORDERS or self._bytes > _BYTES
        ):
            _, (_, _, oldest_size) = self._answers.popitem(last=False)
            self._bytes -= oldest_size


def _without_position(order: Order) -> Order:
    return replace(order, position=None) if isinstance(order, Command) else order
