"""The clients that a model has made, one for each event loop (adk-runtime 9.3)."""

import asyncio
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary

Client = TypeVar("Client")


class Clients(WeakKeyDictionary[asyncio.AbstractEventLoop, Client]):
    """Clients by the event loop that their connections belong to (adk-runtime 9.3).

    A copy is empty: connections cannot be copied, and a copy of the model makes its own.
    """

    def __deepcopy__(self, memo: Any) -> Self:
        return type(self)()

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()
