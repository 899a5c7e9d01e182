"""How mistakes in agents' code are told: what was given, and where (devui's own)."""

import inspect
import logging
import re
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from difflib import get_close_matches
from itertools import islice
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ValidationError, model_validator
from pydantic_core import to_jsonable_python

from devui.runtime.left_out import ROOT

# Which name was probably meant where a wrong one stands.


_FEW = 12
"""So many names are told, if none of them is close."""
_KEYWORD = re.compile(r"([\w.<>]+)\(\) got an unexpected keyword argument '(\w+)'")
_ATTRIBUTE = re.compile(r"""["'](\w+)["'] object has no (?:field|attribute) ["'](\w+)["']""")
"""What pydantic says of attributes that a model does not have."""


def near(name: str, options: Iterable[str]) -> str:
    """`; did you mean ...?` if one of the known names is close, else a full stop.

    A name is close that is spelt nearly so, or the only one that has all words of the wrong one.
    """
    names = [*options]
    [best] = get_close_matches(name, names, n=1, cutoff=0.75) or [""]
    if not best:
        words = set(name.split("_"))
        longer = [each for each in names if words < set(each.split("_"))]
        best = longer[0] if len(longer) == 1 else ""
    return f"; did you mean `{best}`?" if best else "."


def near_field(model: str, path: Sequence[str], name: str) -> str:
    """What `near` says of a field that a model does not have; or else which fields there are.

    Args:
        model: The name of the model's class.
        path: The names of the fields that lead from there to a model inside of it.
        name: The field, as Python code writes it.
    """
    for owner in _models(model):
        fields = _fields(owner, path)
        if fields:
            return _near_or_all(name, fields, "It has")
    return "."


def near_attribute(error: AttributeError | ValueError, text: str) -> str:
    """Which attribute was meant that an object does not have, in a sentence; empty if unknown."""
    if isinstance(error, AttributeError) and error.name and " has no attribute " in text:
        return _near_own(error.obj, error.name)
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        return ""
    fields = {field for model in _models(match[1]) for field in model.model_fields}
    return _hint(match[1], match[2], fields)


def near_parameter(error: TypeError, text: str) -> str:
    """Which parameter was meant that a function does not take, in a sentence; empty if unknown."""
    match = _KEYWORD.match(text)
    if match is None or error.__traceback__ is None:
        return ""
    frame = [*_frames(error)][-1]
    function = _find_function(frame, match[1].split("."))
    if function is None:
        return ""
    try:
        takes = inspect.signature(function).parameters
    except (TypeError, ValueError):  # built-ins without a signature
        return ""
    names = [name for name in takes if name != "self"]
    hint = _near_or_all(match[2], names, "It takes")
    return "" if hint == "." else f"It has no parameter `{match[2]}`{hint}"


def _near_own(owner: Any, name: str) -> str:
    if owner is None:
        return ""  # what None does not have is no misspelt name
    owner_name = owner.__name__ if isinstance(owner, type | ModuleType) else type(owner).__name__
    return _hint(owner_name, name, {each for each in dir(owner) if not each.startswith("_")})


def _hint(owner: str, name: str, names: set[str]) -> str:
    close = near(name, sorted(names))
    return "" if close == "." else f"{owner} has no `{name}`{close}"


def _near_or_all(name: str, names: Sequence[str], verb: str) -> str:
    close = near(name, names)
    if close == "." and 0 < len(names) <= _FEW:
        return f". {verb} {', '.join(f'`{each}`' for each in names)}."
    return close


def _models(name: str) -> Iterator[type[BaseModel]]:
    """The models of that name, as an error of pydantic tells the class by its name alone."""
    stack, seen = [BaseModel], {BaseModel}
    while stack:
        model = stack.pop()
        if model.__name__ == name:
            yield model
        new = [each for each in model.__subclasses__() if each not in seen]
        seen.update(new)
        stack.extend(new)


def _fields(model: type[BaseModel], path: Sequence[str]) -> list[str]:
    for name in path:
        field = model.model_fields.get(name)
        if field is None or not inspect.isclass(field.annotation):
            return []
        if not issubclass(field.annotation, BaseModel):
            return []
        model = field.annotation
    return [*model.model_fields]


def _frames(error: BaseException) -> Iterator[FrameType]:
    trace = error.__traceback__
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _find_function(frame: FrameType, path: list[str]) -> Callable[..., Any] | None:
    """The function of that qualified name that was called there; None if it is not found."""
    namespace = {**frame.f_globals, **frame.f_locals}
    *owners, name = path
    if not owners or owners[-1] == "<locals>":
        function = namespace.get(name)
        return function if callable(function) else None
    owner = namespace.get(owners[-1])
    if not isinstance(owner, type):
        kinds = (type(value) for value in frame.f_locals.values())
        owner = next((kind for kind in kinds if kind.__name__ == owners[-1]), None)
    if owner is None or name == "__init__":
        return owner
    for kind in owner.__mro__:
        if name in vars(kind):
            function = vars(kind)[name]
            return function if callable(function) else None
    return None


_SENTENCES = ("value_error", "assertion_error")
"""Errors that a validator raised in its own words; pydantic puts their kind before them."""
_OF_NAMES = {"missing": "needs", "extra_forbidden": "has no"}
"""What pydantic calls errors that are about a name, and no value."""
_INSIDE = (f"{ROOT}.", "pydantic.")
_BY_POSITION = "BaseModel.__init__() takes 1 positional argument"
"""How Python tells of values without names, to classes whose fields have to be named."""
_AWAIT = (
    "A coroutine is what an async function gives before it is awaited: write `await` before the"
    " call, in an `async def` function."
)
_NOT_ASYNC = (
    "What is called there is no `async def` function: define it so, or take the `await` away."
)
_AWAITED = "can't be used in 'await' expression"
_ASYNC_FOR = (
    "An async generator gives what it yields to `async for event in ...`, in an `async def`"
    " function."
)
A_CONTENT = 'a types.Content, such as types.Content(role="model", parts=[types.Part(text=...)])'
"""What to give where a content is asked for."""
_ENDS = (StopIteration, StopAsyncIteration)
_STOPS = {
    "raised StopIteration": "next() raises StopIteration",
    "raised StopAsyncIteration": "anext() raises StopAsyncIteration",
}
"""What Python says of generators and coroutines that such an exception has left, and why."""
_LINES = 20
"""So many errors that were raised together are told each."""
_LINE = 300
"""How long their lines are, in characters."""


def brief(value: object) -> str:
    """A value and its type, short enough for a message."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if inspect.isroutine(value):
        return f"the function {place(value)}"
    if inspect.iscoroutine(value):
        return f"a coroutine of {value.__qualname__}()"
    if inspect.isgenerator(value):
        return f"a generator of {value.__qualname__}()"
    if inspect.isasyncgen(value):
        return f"an async generator of {value.__qualname__}()"
    text = " ".join(repr(value).split())
    kind = type(value).__name__
    if type(value).__module__.startswith("google.adk."):
        kind = f"google-adk's {kind}: import that of {ROOT}"
    return f"{text if len(text) <= 80 else text[:77] + '...'} ({kind})"


def place(function: Any) -> str:
    """The name of a function, method or class, and `file:line` of its definition if known."""
    try:
        name = str(function.__name__)
    except AttributeError:  # partials and objects that can be called
        name = type(function).__name__
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
        _, line = inspect.findsource(function)
    except (TypeError, OSError):  # built-ins, partials and what was made without a file
        return name
    return f"{name} ({file}:{line + 1})"


def without_json(value: object) -> str:
    """What has no JSON form, for the beginning of a message: `The value of 'lock'` of a dict."""
    entries = value.items() if isinstance(value, Mapping) else ()
    keys = [key for key, each in entries if not _has_json(each)]
    return f"The value of {', '.join(map(repr, keys))}" if keys else "A value"


def _has_json(value: object) -> bool:
    try:
        to_jsonable_python(value)
    except (ValueError, TypeError):
        return False
    return True


def raised_together(error: BaseException) -> Iterator[BaseException]:
    """The exceptions of a group, those of groups in it too; any other one by itself."""
    stack = [error]
    while stack:
        each = stack.pop()
        if isinstance(each, BaseExceptionGroup):
            stack.extend(reversed(each.exceptions))
        else:
            yield each


def lines_of(errors: Iterable[BaseException]) -> Iterator[str]:
    """A line for each, `MyError: what it says`; of many for the first ones, and how many more."""
    remaining = iter(errors)
    for error in islice(remaining, _LINES):
        line = f"{type(error).__name__}: {' '.join(message_of(error).split())}"
        yield line if len(line) <= _LINE else line[:_LINE] + "…"
    if more := sum(1 for _ in remaining):
        yield f"(and {more} more)"


def message_of(error: BaseException) -> str:
    """What an exception says, notes included; some cannot even say that."""
    return "\n".join([text_of(error), *map(str, vars(error).get("__notes__", ()))])


def text_of(error: BaseException) -> str:
    """What an exception says, without its notes; some cannot even say that."""
    try:
        return _text(error)
    except Exception as second:  # noqa: BLE001
        return f"(its message cannot be told: {type(second).__name__})"


def _text(error: BaseException) -> str:
    if isinstance(error, ValidationError):
        return _refusal(error)
    if isinstance(error, KeyError) and error.args and " " in str(error.args[0]):
        return str(error.args[0])  # a sentence, no key: `str` would put it in quotation marks
    text = str(error) or repr(error)
    advice = _advice(error, text)
    return f"{text}\n{advice}" if advice else text


def _advice(error: BaseException, text: str) -> str:
    """What to do about an exception of Python itself; empty if its words will do."""
    if isinstance(error, TypeError) and text.startswith(_BY_POSITION):
        return "Give each value by its name, such as name=..."
    if isinstance(error, TypeError | AttributeError) and "'coroutine' object" in text:
        return _AWAIT
    if isinstance(error, TypeError) and ("async_generator" in text or text.endswith(_AWAITED)):
        if "__notes__" in vars(error):
            return ""  # one says it of the very function: see `note_on_await`
        return _ASYNC_FOR if "async_generator" in text else _NOT_ASYNC
    if isinstance(error, TypeError) and "__notes__" not in vars(error):
        return near_parameter(error, text)
    if isinstance(error, AttributeError | ValueError) and "__notes__" not in vars(error):
        return near_attribute(error, text)
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, _ENDS):
        for end, reason in _STOPS.items():
            if text.endswith(end):
                return f"{reason} of what has no more. Catch it there."
    return ""


def _refusal(error: ValidationError) -> str:
    """What pydantic found, a line for each field, without its links and its own vocabulary."""
    lines = []
    for detail in error.errors(include_url=False):
        field = ".".join(str(each) for each in detail["loc"])
        where = f"{error.title}.{field}: " if field else ""
        if detail["type"] in _SENTENCES:
            lines.append(where + detail["msg"].partition(", ")[2])
        elif detail["type"] == "model_attributes_type" and field.endswith("content"):
            lines.append(f"{where}this has to be {A_CONTENT} (given: {_excerpt(detail['input'])})")
        elif detail["type"] in _OF_NAMES:
            *around, name = (error.title, *(_snake(str(each)) for each in detail["loc"]))
            sentence = f"{'.'.join(around)} {_OF_NAMES[detail['type']]} `{name}`"
            missing = detail["type"] == "missing"
            lines.append(sentence + ("." if missing else near_field(around[0], around[1:], name)))
        else:
            where = where or f"{error.title}: "
            lines.append(f"{where}{detail['msg']} (given: {_excerpt(detail['input'])})")
    return "\n".join(lines)


def _excerpt(value: object) -> str:
    return " ".join(repr(value).split())[:80]


def _snake(name: str) -> str:
    """The name as Python code writes it, of one that pydantic has from JSON."""
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)


def check_takes(function: Any, count: int, what: str, role: str) -> None:
    """Refuse a function that cannot be called with so many arguments.

    Args:
        function: What is to be called.
        count: With how many arguments.
        what: What they are, as in "a ReadonlyContext".
        role: What the function stands for.

    Raises:
        TypeError: it does not take them.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built-ins without a signature
        return
    try:
        signature.bind(*range(count))
    except TypeError:
        raise TypeError(
            f"{place(function)}, {role}, takes {signature}, but is called with {what}. Give it"
            " that parameter."
        ) from None


def note_on_names(error: BaseException, function: Any, *names: str) -> None:
    """Note on an error of a call by these names, if the function does not take them."""
    try:
        signature = inspect.signature(function)
        signature.bind(**dict.fromkeys(names))
    except ValueError:  # built-ins without a signature
        return
    except TypeError:
        error.add_note(
            f"{place(function)} takes {signature}, but is called with {', '.join(names)}. Give it"
            " these parameters."
        )


def not_awaited(function: Any) -> str:
    """What to do about a function whose call is awaited, and that gives nothing to await."""
    if inspect.isasyncgenfunction(function):
        return f"{place(function)} yields. Let it return its result instead."
    if inspect.isgeneratorfunction(function):
        return f"{place(function)} yields. Define it with `async def`, and return its result."
    return f"{place(function)} is a plain function. Define it with `async def`."


def note_on_await(error: BaseException, function: Any) -> None:
    """Note on an error of awaiting a call of the function, if it gives nothing to await."""
    if str(error).endswith(_AWAITED) and not inspect.iscoroutinefunction(function):
        error.add_note(not_awaited(function))


def yielding(items: Any, function: Any, owner: str, what: str) -> AsyncGenerator[Any, None]:
    """What an async generator has given when it was called.

    Args:
        items: What it gave.
        function: The generator itself, if it is one.
        owner: Whose it is, as in "agent 'writer'".
        what: What it has to yield.

    Raises:
        TypeError: it is another kind of function.
    """
    if isinstance(items, AsyncIterator):
        return cast("AsyncGenerator[Any, None]", items)
    if inspect.iscoroutine(items):
        items.close()
    raise TypeError(
        f"{place(function)} of {owner} gives {type(items).__name__}; it must be `async def` and"
        f" yield {what}."
    )


def refuse_unknown(owner: str, values: Any, fields: Mapping[str, Any]) -> None:
    """Refuse arguments that a class does not have, and say which one may be meant.

    Args:
        owner: The name of the class.
        values: The arguments by name; anything else is left to the class.
        known: Its fields by name; each may have an `alias`.

    Raises:
        ValueError: there is such an argument.
    """
    for name, close in unknown_names(values, fields):
        raise ValueError(f"{owner} has no `{name}`{close}")


def unknown_names(values: Any, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The arguments that a class does not have, each with what `near` says of it.

    See `refuse_unknown`.
    """
    if not isinstance(values, dict):
        return
    names = {*fields, *(field.alias for field in fields.values() if field.alias)}
    for name in values:
        if name not in names:
            yield str(name), near(str(name), sorted(names))


def caller() -> str:
    """` (file:line)` of who called the runtime, outside of it and of pydantic; empty if nobody."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        frame = frame.f_back
    return f" ({frame.f_code.co_filename}:{frame.f_lineno})" if frame else ""


# Says where to declare attributes, to who derives classes from the runtime's.


class Declared(BaseModel):
    """It says what to do where pydantic refuses an attribute that the class does not have."""

    if not TYPE_CHECKING:  # else mypy would take any name for one of an attribute

        def __setattr__(self, name: str, value: Any) -> None:
            try:
                super().__setattr__(name, value)
            except (ValueError, AttributeError) as error:
                if not isinstance(error, ValidationError):
                    _advise(error, type(self), name, value)
                raise


def _advise(error: Exception, owner: type[BaseModel], name: str, value: object) -> None:
    """Nothing of properties, which have reasons of their own."""
    close = near(name, owner.model_fields)
    if name in owner.model_fields:  # it is set before there is anything to put it into
        error.add_note(
            f"Give it to super().__init__({name}=...) in {place(owner)}, or set it after that."
        )
    elif close != ".":
        error.add_note(f"{owner.__name__} has no `{name}`{close}")
    elif not hasattr(owner, name) and not owner.__module__.startswith(f"{ROOT}."):
        error.add_note(
            f"Declare it in {place(owner)}, such as `{name}: {type(value).__name__}`, and give it"
            f" to super().__init__({name}=...). What begins with _ needs no declaration."
        )


# Arguments that a class ignores, as google-adk's does, and that somebody meant.


logger = logging.getLogger(__name__)


class Spelt(BaseModel):
    """It warns of arguments that it does not have: a setting that is misspelt does nothing."""

    @model_validator(mode="before")
    @classmethod
    def _tell_of_ignored(cls, values: Any) -> Any:
        if cls.model_config.get("extra", "ignore") == "ignore":
            for name, close in unknown_names(values, cls.model_fields):
                warn_of_ignored(cls, name, close)
        return values


def warn_of_ignored(owner: type[BaseModel], name: str, instead: str) -> None:
    """Warn of an argument that has no effect, and tell what to do `instead`."""
    logger.warning("%s has no `%s`%s It is ignored%s.", owner.__name__, name, instead, caller())
