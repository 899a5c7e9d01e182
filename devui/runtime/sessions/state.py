"""`State`: a session's state and its uncommitted changes (adk-runtime 2.2)."""

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from devui.runtime.mistakes import brief

# Copies of state values, whatever users put into them (adk-runtime 2.4).


_IMMUTABLE = (str, int, float, bool, bytes, type(None))


class NotCopyableError(TypeError):
    """The value refuses to be copied."""


def deep_copy(value: Any) -> Any:
    """Return a copy that shares nothing mutable with `value`; raises NotCopyableError."""
    if isinstance(value, _IMMUTABLE):
        return value
    try:
        return copy.deepcopy(value)
    except Exception as error:  # copying runs methods of users' classes
        raise NotCopyableError(f"{type(value).__name__} cannot be copied: {error}") from error


def detached(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state with copied values; a value that can't be copied stays shared."""
    return {key: _detached_value(value) for key, value in state.items()}


def _detached_value(value: Any) -> Any:
    try:
        return deep_copy(value)
    except NotCopyableError:
        return value


class StateLike(Protocol):
    """State that can be read and written: a `State` or a dict."""

    def get(self, key: str, default: Any = None, /) -> Any:
        """Return the value of the key."""

    def __setitem__(self, key: str, value: Any, /) -> None: ...


class StateSchemaError(TypeError):
    """A key or value that the state schema doesn't allow."""


_INSTEAD = {
    "keys": "iterate over it, or use to_dict().keys()",
    "values": "use to_dict().values()",
    "items": "use to_dict().items()",
    "pop": "read the key, then write None to remove it",
    "popitem": "read a key, then write None to remove it",
    "clear": "write None to each key to remove it",
    "copy": "use to_dict()",
}


class State:
    """A view of the live state that also records what changed.

    Writes go to `value`, so that later code of the same invocation sees them (a dirty read), and to
    `delta`, which is committed with the next event. Reads prefer the delta. Keys can't be deleted;
    write None instead.

    A dict or list you read may be changed in place. So a copy is kept, and `has_delta` records the
    container if it has changed and JSON can represent it exactly.
    """

    APP_PREFIX: ClassVar[str] = "app:"
    """The prefix of keys that all sessions of the app share."""
    USER_PREFIX: ClassVar[str] = "user:"
    """The prefix of keys that all sessions of the user share."""
    TEMP_PREFIX: ClassVar[str] = "temp:"
    """The prefix of keys that are never stored."""

    _value: dict[str, Any]
    _delta: dict[str, Any]
    _schema: type[BaseModel] | None
    _read: dict[str, tuple[Any, Any]]
    """Containers handed out, each with a copy of its original value."""
    _recorded: set[str]
    """Keys that are in the delta because of a change in place."""

    def __init__(
        self,
        value: dict[str, Any],
        delta: dict[str, Any],
        schema: type[BaseModel] | None = None,
    ) -> None:
        """View a state.

        Args:
            value: The live state, which is written to.
            delta: Collects what is written, for the next event.
            schema: The keys without a prefix that are allowed, and their types; None allows any.
        """
        # Set together, bypassing __setattr__: contexts make many of these.
        own = self.__dict__
        own["_value"], own["_delta"], own["_schema"] = value, delta, schema
        own["_read"], own["_recorded"] = {}, set()

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse attributes, which would look as if they were stored; raises AttributeError."""
        if not name.startswith("_"):
            raise AttributeError(f"State has no {name}; write it as state[{name!r}].")
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        advice = _INSTEAD.get(name, "it has get(), setdefault(), update() and to_dict()")
        raise AttributeError(f"State has no {name}; {advice}.")

    def __getitem__(self, key: str) -> Any:
        """Return the value; raises KeyError with advice for a key that is not set."""
        value = self._current(key)
        if isinstance(value, dict | list) and key not in self._read:
            self._remember(key, value)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self.update({key: value})

    def __delitem__(self, key: str) -> None:
        raise AttributeError(f"State keys can't be deleted; write None to {key!r} to remove it.")

    def __contains__(self, key: object) -> bool:
        return key in self._delta or key in self._value

    def __iter__(self) -> Iterator[str]:
        return iter(self.to_dict())

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value, or `default` for an unknown key."""
        return self[key] if key in self else default  # noqa: SIM401  this is that `get`

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value; write `default` first if the key is unknown."""
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, delta: Mapping[str, Any]) -> None:
        """Write several keys.

        Raises StateSchemaError, or TypeError for a key that isn't a string, before any is written.
        """
        delta = delta if isinstance(delta, dict) else dict(delta)
        check_keys(delta)
        if self._schema is not None:
            for key, value in delta.items():
                check_entry(self._schema, key, value)
        self._value.update(delta)
        self._delta.update(delta)
        for key in delta:
            self._forget(key)

    def to_dict(self) -> dict[str, Any]:
        """Return all keys and values, including the uncommitted ones."""
        return {**self._value, **self._delta}

    def has_delta(self) -> bool:
        """Return whether there is anything to commit, after recording changes made in place."""
        for key in list(self._read):
            self._record(key)
        return bool(self._delta)

    def _current(self, key: str) -> Any:
        if key in self._delta:
            return self._delta[key]
        if key in self._value:
            return self._value[key]
        error = KeyError(key)
        error.add_note(
            f"The state has no key {key!r}. Write it before it is read, or read it with"
            f" state.get({key!r})."
        )
        raise error

    def _remember(self, key: str, container: Any) -> None:
        try:
            before = deep_copy(container)
            if container == before:  # else it would always look changed
                self._read[key] = (container, before)
        except (NotCopyableError, TypeError, ValueError):
            return

    def _forget(self, key: str) -> None:
        self._read.pop(key, None)
        self._recorded.discard(key)

    def _record(self, key: str) -> None:
        container, before = self._read[key]
        if key not in self or self._current(key) is not container:
            self._forget(key)  # replaced since it was read: the new value counts
        elif container == before:
            return
        elif _equals_its_json(container):
            if key not in self._delta:
                self._recorded.add(key)
            self._value[key] = self._delta[key] = container
            del self._read[key]
            self._remember(key, container)
        else:
            if key in self._recorded:
                del self._delta[key]
            self._forget(key)


def _equals_its_json(value: Any) -> bool:
    try:
        return bool(to_jsonable_python(value, inf_nan_mode="null") == value)
    except (ValueError, TypeError):
        return False


def check_keys(values: Iterable[object]) -> None:
    """Raise TypeError if a key isn't a string."""
    for key in values:
        if not isinstance(key, str):
            raise TypeError(
                f"{brief(key)} is not a valid state key: keys are strings, such as {str(key)!r}."
            )


def check_entry(schema: type[BaseModel], key: str, value: Any) -> None:
    """Raise StateSchemaError if the schema doesn't allow the key or its value."""
    if ":" in key:  # scopes and internal owners are not part of the schema
        return
    if key not in schema.model_fields:
        raise StateSchemaError(
            f"{key!r} is not declared in the state schema {schema.__name__!r}; "
            f"the declared keys are {sorted(schema.model_fields)}."
        )
    try:
        _adapter(schema, key).validate_python(value)
    except ValidationError as error:
        raise StateSchemaError(
            f"The value for {key!r} does not fit {schema.__name__!r}, which declares it as"
            f" '{_type_name(schema.model_fields[key].annotation)}': {error}"
        ) from error


def _type_name(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


@lru_cache(maxsize=256)
def _adapter(schema: type[BaseModel], key: str) -> TypeAdapter[Any]:
    return TypeAdapter(schema.model_fields[key].rebuild_annotation())


# The scopes of state, given by the prefixes of keys (adk-runtime 2.3).


@dataclass(slots=True)
class ScopedState:
    """State by scope, as it is stored: without prefixes and without `temp:` keys."""

    app: dict[str, Any] = field(default_factory=dict)
    user: dict[str, Any] = field(default_factory=dict)
    session: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, delta: Mapping[str, Any]) -> "ScopedState":
        """Sort prefixed keys into scopes, and drop `temp:` keys."""
        scoped = cls()
        for key, value in delta.items():
            if key.startswith(State.APP_PREFIX):
                scoped.app[key.removeprefix(State.APP_PREFIX)] = value
            elif key.startswith(State.USER_PREFIX):
                scoped.user[key.removeprefix(State.USER_PREFIX)] = value
            elif not key.startswith(State.TEMP_PREFIX):
                scoped.session[key] = value
        return scoped

    def as_dict(self) -> dict[str, Any]:
        """Return the state as one dict, with prefixes."""
        return {
            **self.session,
            **{State.APP_PREFIX + key: value for key, value in self.app.items()},
            **{State.USER_PREFIX + key: value for key, value in self.user.items()},
        }
