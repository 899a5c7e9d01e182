"""Reads pickles as plain data, without running anything that they name.

The first schema of google-adk's DatabaseSessionService stores each event's `actions` as a pickle. A
pickle is a program: unpickling it may call whatever it names. Here, `pickletools` only decodes its
instructions, and each object that they would build is represented by its type's name and its parts.
The contents of known types are extracted: pydantic models, enumerations, dates, sets. Everything
else is left out and reported.
"""

import base64
import datetime as dt
import math
import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

_LARGEST: Final = 64_000_000
"""The largest pickle, in bytes; also the most text in it, in characters."""
_MOST: Final = 1_000_000
"""The maximum number of values in a pickle, counting shared ones each time they occur."""
_DEEPEST: Final = 200

LeftOut = Callable[[str, str], None]
"""Called with the place and the description of each value that is left out."""


class UnsupportedPickle(ValueError):
    """The bytes aren't a pickle that this module can read."""


@dataclass(slots=True)
class _Name:
    """A class or function that the pickle refers to."""

    text: str


@dataclass(slots=True)
class _Object:
    """The object that a call would have created, with its contents."""

    name: str
    args: Any
    state: Any = None
    items: dict[Any, Any] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)


class _Mark:
    """A marker on the stack, below a list of parts."""


def read(data: bytes, left_out: LeftOut) -> Any:
    """Return the value in a pickle as a JSON value. Raises UnsupportedPickle."""
    if len(data) > _LARGEST:
        raise UnsupportedPickle(f"it has more than {_LARGEST:,} bytes")
    try:
        value = _Machine().run(data)
    except (IndexError, KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise UnsupportedPickle(
            f"it is damaged or in a format devui can't read: {error}"
        ) from error
    return _Plain(left_out).of(value, "", 0)


class _Machine:
    """Interprets the instructions of one pickle."""

    def __init__(self) -> None:
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def run(self, data: bytes) -> Any:
        for opcode, argument, _ in pickletools.genops(data):
            name = opcode.name
            if name == "STOP":
                return self._stack.pop()
            if name in _PUSHES:
                self._stack.append(argument)
            elif name in _STEPS:
                _STEPS[name](self, argument)
            elif name not in _IGNORED:
                raise UnsupportedPickle(f"devui doesn't support the pickle instruction {name}")
        raise UnsupportedPickle("it is truncated")

    def _take(self, count: int) -> list[Any]:
        if len(self._stack) < count:
            raise UnsupportedPickle("it is damaged")
        items = self._stack[len(self._stack) - count :]
        del self._stack[len(self._stack) - count :]
        return items

    def _parts(self) -> list[Any]:
        """Take everything above the last mark from the stack."""
        for place in range(len(self._stack) - 1, -1, -1):
            if isinstance(self._stack[place], _Mark):
                parts = self._stack[place + 1 :]
                del self._stack[place:]
                return parts
        raise UnsupportedPickle("it is damaged")

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def keep(self, place: int | None) -> None:
        """Store the top value in the memo."""
        self._memo[len(self._memo) if place is None else place] = self._stack[-1]

    def recall(self, place: int) -> None:
        self._stack.append(self._memo[place])

    def push_name(self, text: str) -> None:
        self._stack.append(_Name(text.replace(" ", ".", 1)))

    def push_name_from_stack(self) -> None:
        module, name = self._take(2)
        self._stack.append(_Name(f"{module}.{name}"))

    def push_call(self, count: int) -> None:
        """Replace a class or function and its arguments with an `_Object`; nothing is called."""
        what, *args = self._take(count)
        name = what.text if isinstance(what, _Name) else type(what).__name__
        self._stack.append(_Object(name, args[0] if args else ()))

    def push_call_since_mark(self, text: str | None) -> None:
        parts = self._parts()
        if text is None:
            what, *parts = parts
            text = what.text if isinstance(what, _Name) else type(what).__name__
        self._stack.append(_Object(text.replace(" ", ".", 1), tuple(parts)))

    def set_state(self) -> None:
        target, state = self._take(2)
        if isinstance(target, _Object):
            target.state = state
        self._stack.append(target)

    def put_items(self, parts: list[Any]) -> None:
        """Put keys and values into the mapping below them."""
        target = self._stack[-1]
        items = target.items if isinstance(target, _Object) else target
        for key, value in zip(parts[::2], parts[1::2], strict=True):
            items[key if isinstance(key, str | int | float | bool) else _Text(key)] = value

    def put_values(self, parts: list[Any]) -> None:
        """Put values into the list or set below them."""
        target = self._stack[-1]
        (target.values if isinstance(target, _Object) else target).extend(parts)


class _Text:
    """A key that isn't valid in JSON."""

    def __init__(self, value: Any) -> None:
        self.value = value


_PUSHES: Final = frozenset(
    {
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
        *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "SHORT_BINUNICODE", "BINUNICODE"),
        *("BINUNICODE8", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8"),
    }
)
"""Instructions whose argument is the value."""
_IGNORED: Final = frozenset({"PROTO", "FRAME"})
_STEPS: Final[dict[str, Callable[[_Machine, Any], None]]] = {
    "NONE": lambda machine, _: machine.push(None),
    "NEWTRUE": lambda machine, _: machine.push(True),
    "NEWFALSE": lambda machine, _: machine.push(False),
    "MARK": lambda machine, _: machine.push(_Mark()),
    "POP": lambda machine, _: _drop(machine._take(1)),
    "POP_MARK": lambda machine, _: _drop(machine._parts()),
    "DUP": lambda machine, _: machine.push(machine._stack[-1]),
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "EMPTY_TUPLE": lambda machine, _: machine.push(()),
    "EMPTY_SET": lambda machine, _: machine.push([]),
    "TUPLE": lambda machine, _: machine.push(tuple(machine._parts())),
    "TUPLE1": lambda machine, _: machine.push(tuple(machine._take(1))),
    "TUPLE2": lambda machine, _: machine.push(tuple(machine._take(2))),
    "TUPLE3": lambda machine, _: machine.push(tuple(machine._take(3))),
    "LIST": lambda machine, _: machine.push(machine._parts()),
    "FROZENSET": lambda machine, _: machine.push(machine._parts()),
    "DICT": lambda machine, _: _push_dict(machine, machine._parts()),
    "SETITEM": lambda machine, _: machine.put_items(machine._take(2)),
    "SETITEMS": lambda machine, _: machine.put_items(machine._parts()),
    "APPEND": lambda machine, _: machine.put_values(machine._take(1)),
    "APPENDS": lambda machine, _: machine.put_values(machine._parts()),
    "ADDITEMS": lambda machine, _: machine.put_values(machine._parts()),
    "MEMOIZE": lambda machine, _: machine.keep(None),
    "PUT": lambda machine, place: machine.keep(int(place)),
    "BINPUT": lambda machine, place: machine.keep(place),
    "LONG_BINPUT": lambda machine, place: machine.keep(place),
    "GET": lambda machine, place: machine.recall(int(place)),
    "BINGET": lambda machine, place: machine.recall(place),
    "LONG_BINGET": lambda machine, place: machine.recall(place),
    "GLOBAL": lambda machine, text: machine.push_name(text),
    "STACK_GLOBAL": lambda machine, _: machine.push_name_from_stack(),
    "REDUCE": lambda machine, _: machine.push_call(2),
    "NEWOBJ": lambda machine, _: machine.push_call(2),
    "NEWOBJ_EX": lambda machine, _: machine.push_call(3),
    "INST": lambda machine, text: machine.push_call_since_mark(text),
    "OBJ": lambda machine, _: machine.push_call_since_mark(None),
    "BUILD": lambda machine, _: machine.set_state(),
}


def _drop(_: list[Any]) -> None:
    """Discard values taken from the stack."""


def _push_dict(machine: _Machine, parts: list[Any]) -> None:
    machine.push({})
    machine.put_items(parts)


class _Plain:
    """Converts what a pickle would have built to JSON."""

    def __init__(self, left_out: LeftOut) -> None:
        self._left_out = left_out
        self._count = 0
        self._size = 0

    def of(self, value: Any, place: str, depth: int) -> Any:
        """Return a value as JSON; None for what is left out. Raises UnsupportedPickle."""
        self._count += 1
        if self._count > _MOST or depth > _DEEPEST:
            raise UnsupportedPickle("it holds too many values, or is nested too deeply")
        if isinstance(value, str | bytes | bytearray):
            self._size += len(value)
            if self._size > _LARGEST:  # one text may be referred to any number of times
                raise UnsupportedPickle(f"its texts have more than {_LARGEST:,} characters")
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else self._without(place, f"the number {value}")
        if isinstance(value, bytes | bytearray):
            return _readable(bytes(value))
        if isinstance(value, list | tuple):
            inner = enumerate(value)
            return [self.of(each, f"{place}[{number}]", depth + 1) for number, each in inner]
        if isinstance(value, dict):
            return self._mapping(value, place, depth)
        if isinstance(value, _Object):
            return self._object(value, place, depth)
        name = value.text if isinstance(value, _Name) else type(value).__name__
        return self._without(place, name)

    def _mapping(self, value: dict[Any, Any], place: str, depth: int) -> dict[str, Any]:
        members = {}
        for key, each in value.items():
            if isinstance(key, _Text):
                self._without(place, "an entry whose key isn't text")
                continue
            members[str(key)] = self.of(each, f"{place}.{key}" if place else str(key), depth + 1)
        return members

    def _object(self, value: _Object, place: str, depth: int) -> Any:
        state = value.state
        if isinstance(state, dict) and isinstance(state.get("__dict__"), dict):
            extra = state.get("__pydantic_extra__")
            fields = {**state["__dict__"], **(extra if isinstance(extra, dict) else {})}
            return {
                name: each
                for name, each in self._mapping(fields, place, depth).items()
                if each is not None
            }
        args = value.args if isinstance(value.args, list | tuple) else ()
        if value.name in _MAPPINGS:
            return self._mapping(value.items, place, depth)
        if value.name in _SETS:
            return self.of([*(args[0] if args else ()), *value.values], place, depth + 1)
        if value.name in _TEXTS and len(args) == 1 and isinstance(args[0], str):
            return args[0]
        if value.name in _TIMES and args and isinstance(args[0], bytes):
            return _TIMES[value.name](args[0])
        if value.name == "uuid.UUID" and isinstance(state, dict) and _is_id(state.get("int")):
            digits = f"{state['int']:032x}"
            return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
        if value.name.startswith(_ENUMS) and len(args) == 1 and isinstance(args[0], str | int):
            return args[0]
        return self._without(place, value.name)

    def _without(self, place: str, what: str) -> None:
        self._left_out(place, what)


def _readable(data: bytes) -> str:
    """Return bytes as text, like pydantic's JSON, or as base64 if they aren't UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return base64.urlsafe_b64encode(data).decode()


def _is_id(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value < 2**128


def _date(data: bytes) -> str:
    return dt.date(data[0] * 256 + data[1], data[2], data[3]).isoformat()


def _moment(data: bytes) -> str:
    micro = int.from_bytes(data[7:10], "big")
    day = dt.datetime(data[0] * 256 + data[1], data[2] & 0x7F, data[3])
    hour, minute, second = data[4:7]
    return day.replace(hour=hour, minute=minute, second=second, microsecond=micro).isoformat()


_TIMES: Final = {"datetime.date": _date, "datetime.datetime": _moment}
_MAPPINGS: Final = frozenset({"collections.OrderedDict", "collections.defaultdict"})
_SETS: Final = frozenset({"builtins.set", "builtins.frozenset", "__builtin__.set"})
_TEXTS: Final = frozenset({"decimal.Decimal", "uuid.UUID", "pathlib.PosixPath"})
_ENUMS: Final = ("google.adk.", "google.genai.", "fastapi.openapi.models.")
"""Packages whose enumerations may occur in actions; each is called with only its value."""
