"""The live state of a session in a run; reports reads and writes to a watcher.

It is a normal dict until it is watched; only then does its class change to one whose methods
report. So a run that nobody watches pays nothing (Law 6).
"""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Protocol, Self

_MISSING = object()


class Watcher(Protocol):
    """Receives the reads and writes of a live state."""

    on: bool

    def read(self, key: str, value: Any, actor: Any = None) -> None:
        """Handle the read of a value; `actor` is None if only the running agent is known."""

    def on_write(self, key: str, actor: Any = None) -> None:
        """Handle the write or removal of a key."""

    def read_back(self, key: str, actor: Any) -> None:
        """Handle a read of what the actor's current event already carries."""


class LiveState(dict[str, Any]):
    """The unwatched state of a session: a dict that can become watched."""

    __slots__ = ("watcher",)
    watcher: Watcher

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Make copies and pickles plain dicts."""
        return dict, (dict(self),)

    def watch(self) -> None:
        """Report to the watcher from now on."""
        self.__class__ = WatchedState


class WatchedState(LiveState):
    """The watched state of a session. Iterating over it reports nothing."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        self.watcher.read(key, value)
        return value

    def get(self, key: str, default: Any = None) -> Any:
        """Like `dict.get`."""
        return self[key] if key in self else default  # noqa: SIM401  this is that `get`

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self.watcher.on_write(key)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self.watcher.on_write(key)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Like `dict.setdefault`, with reports."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str, default: Any = _MISSING) -> Any:
        """Like `dict.pop`, with reports."""
        is_known = key in self
        value = super().pop(key) if default is _MISSING else super().pop(key, default)
        if is_known:
            self.watcher.on_write(key)
        return value

    def update(self, *others: Any, **more: Any) -> None:
        """Like `dict.update`, with reports."""
        for key, value in dict(*others, **more).items():
            self[key] = value

    # Typeshed has overloads for arguments that a state is never updated with.
    def __ior__(self, other: Any) -> Self:  # type: ignore[override,misc]  # as above
        self.update(other)
        return self

    def clear(self) -> None:
        """Like `dict.clear`, with reports."""
        for key in list(self):
            del self[key]


class StateView(Mapping[str, Any]):
    """The live state as seen by one callback or tool; reports name it as the actor."""

    __slots__ = ("_actor", "_live")

    def __init__(self, live: LiveState, actor: Any) -> None:
        self._live, self._actor = live, actor

    def __getitem__(self, key: str) -> Any:
        value = dict.__getitem__(self._live, key)
        self._live.watcher.read(key, value, self._actor)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._live)

    def __len__(self) -> int:
        return len(self._live)

    def __contains__(self, key: object) -> bool:
        return key in self._live

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def update(self, values: Mapping[str, Any]) -> None:
        """Like `dict.update`, with reports."""
        for key, value in values.items():
            dict.__setitem__(self._live, key, value)
            self._live.watcher.on_write(key, self._actor)


class DeltaView(MutableMapping[str, Any]):
    """The delta of an event as seen by one callback or tool; reports reads.

    The callbacks and the tool of one call share a delta, so one of them can read there what another
    has written. The `StateView` beside it reports writes.
    """

    __slots__ = ("_actor", "_watcher", "delta")

    def __init__(self, delta: dict[str, Any], watcher: Watcher, actor: Any) -> None:
        self.delta, self._watcher, self._actor = delta, watcher, actor

    def __getitem__(self, key: str) -> Any:
        value = self.delta[key]
        self._watcher.read_back(key, self._actor)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self.delta[key] = value

    def __delitem__(self, key: str) -> None:
        del self.delta[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.delta)

    def __len__(self) -> int:
        return len(self.delta)

    def __contains__(self, key: object) -> bool:
        return key in self.delta
