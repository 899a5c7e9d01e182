"""The live state of a session in a run, which tells a watcher who reads and writes it.

It is a dict like any other until it is watched: only then the methods that tell are put in, by
changing its class. So a run that nobody watches pays nothing (Law 6).
"""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Protocol, Self

_MISSING = object()


class Watcher(Protocol):
    """Who is told."""

    on: bool

    def read(self, key: str, value: Any, actor: Any = None) -> None:
        """Somebody reads a value; `actor` is None where only the running agent tells who."""

    def wrote(self, key: str, actor: Any = None) -> None:
        """Somebody has written or removed a key."""

    def read_back(self, key: str, actor: Any) -> None:
        """Somebody reads what the event that it works on carries already."""


class LiveState(dict[str, Any]):
    """The state of a session while nobody watches: a dict, and the way to watch it."""

    __slots__ = ("watcher",)
    watcher: Watcher

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Copies and pickles are plain dicts."""
        return dict, (dict(self),)

    def watch(self) -> None:
        """Tell the watcher from now on."""
        self.__class__ = WatchedState


class WatchedState(LiveState):
    """The same while somebody watches. Going through all of it tells nothing."""

    __slots__ = ()

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        self.watcher.read(key, value)
        return value

    def get(self, key: str, default: Any = None) -> Any:
        """As a dict's."""
        return self[key] if key in self else default  # noqa: SIM401  this is that `get`

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)
        self.watcher.wrote(key)

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)
        self.watcher.wrote(key)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """As a dict's."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str, default: Any = _MISSING) -> Any:
        """As a dict's."""
        is_known = key in self
        value = super().pop(key) if default is _MISSING else super().pop(key, default)
        if is_known:
            self.watcher.wrote(key)
        return value

    def update(self, *others: Any, **more: Any) -> None:
        """As a dict's."""
        for key, value in dict(*others, **more).items():
            self[key] = value

    # Typeshed overloads it for what a state never is updated with.
    def __ior__(self, other: Any) -> Self:  # type: ignore[override,misc]  # as above
        self.update(other)
        return self

    def clear(self) -> None:
        """As a dict's."""
        for key in list(self):
            del self[key]


class StateView(Mapping[str, Any]):
    """The live state as one callback or tool sees it: what it does is told under its name."""

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
        """As a dict's."""
        for key, value in values.items():
            dict.__setitem__(self._live, key, value)
            self._live.watcher.wrote(key, self._actor)


class DeltaView(MutableMapping[str, Any]):
    """The delta of an event as one callback or tool sees it: what it reads there is told.

    The callbacks and the tool of one call share a delta, so one of them reads there what another
    has written. Writes are told by the `StateView` beside it.
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
