"""Describes mistakes in agents' code: what was given, and where (devui's own)."""

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

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

# Suggests the name that was probably meant instead of a wrong one.


_FEW = 12
"""The maximum number of names to list if none of them is close."""
_KEYWORD = re.compile(r"([\w.<>]+)\(\) got an unexpected keyword argument '(\w+)'")
_ATTRIBUTE = re.compile(r"""["'](\w+)["'] object has no (?:field|attribute) ["'](\w+)["']""")
"""pydantic's message about attributes that a model lacks."""


def near(name: str, options: Iterable[str]) -> str:
    """Return `; did you mean ...?` if one of the known names is close, else a full stop.

    A name is close if it has the same letters, a similar spelling, or is the only one that has all
    words of the wrong one.
    """
    names = [*options]
    swapped = [each for each in names if sorted(each) == sorted(name)]
    [best] = swapped[:1] or get_close_matches(name, names, n=1, cutoff=0.75) or [""]
    if not best:
        words = set(name.split("_"))
        longer = [each for each in names if words < set(each.split("_"))]
        best = longer[0] if len(longer) == 1 else ""
    return f"; did you mean `{best}`?" if best else "."


def near_field(model: str, path: Sequence[str], name: str) -> str:
    """Return what `near` says of a field that a model lacks, or a list of the model's fields.

    Args:
        model: The name of the model's class.
        path: The names of the fields that lead from the model to a nested model.
        name: The field, as Python code writes it.
    """
    for owner in _models(model):
        fields = _fields(owner, path)
        if fields:
            return _near_or_all(name, fields, "It has")
    return "."


def near_attribute(error: AttributeError | ValueError, text: str) -> str:
    """Name the attribute that was probably meant, in a sentence; empty if unknown."""
    if isinstance(error, AttributeError) and error.name and " has no attribute " in text:
        return _near_own(error.obj, error.name)
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        return ""
    fields = {field for model in _models(match[1]) for field in model.model_fields}
    return _hint(match[1], match[2], fields)


def near_parameter(error: TypeError, text: str) -> str:
    """Name the parameter that was probably meant, in a sentence; empty if unknown."""
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
        return ""  # an attribute of None isn't a misspelt name
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
    """Yield the models with that name: pydantic's errors contain only the name of the class."""
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
    """Return the function with that qualified name called in the frame; None if not found."""
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
"""Errors that a validator raised with its own message, to which pydantic adds a prefix."""
_OF_NAMES = {"missing": "needs", "extra_forbidden": "has no"}
"""pydantic's types of errors that are about a name rather than a value."""
_INSIDE = (f"{ROOT}.", "pydantic.")
_BY_POSITION = "BaseModel.__init__() takes 1 positional argument"
"""Python's message about positional values for classes whose fields must be named."""
_AWAIT = (
    "Calling an async function returns a coroutine: put `await` before the call, inside an"
    " `async def` function."
)
_NOT_ASYNC = "The called function is not async: define it with `async def`, or remove the `await`."
_AWAITED = "can't be used in 'await' expression"
_ASYNC_FOR = (
    "Iterate an async generator with `async for event in ...`, inside an `async def` function."
)
A_CONTENT = 'a types.Content, such as types.Content(role="model", parts=[types.Part(text=...)])'
"""What to give if a content is expected."""
_ENDS = (StopIteration, StopAsyncIteration)
_STOPS = {
    "raised StopIteration": "next() raises StopIteration",
    "raised StopAsyncIteration": "anext() raises StopAsyncIteration",
}
"""Python's messages about generators and coroutines that raised such an exception, and why."""
_LINES = 20
"""How many of several errors raised together are listed."""
_LINE = 300
"""The maximum length of their lines, in characters."""


def brief(value: object) -> str:
    """Describe a value and its type, short enough for a message."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if inspect.isroutine(value):
        return f"the function {place(value)}"
    if inspect.iscoroutine(value):
        return f"a coroutine from {value.__qualname__}()"
    if inspect.isgenerator(value):
        return f"a generator from {value.__qualname__}()"
    if inspect.isasyncgen(value):
        return f"an async generator from {value.__qualname__}()"
    text = " ".join(repr(value).split())
    kind = type(value).__name__
    if type(value).__module__.startswith("google.adk."):
        kind = f"google-adk's {kind}; import it from {ROOT} instead"
    return f"{text if len(text) <= 80 else text[:77] + '...'} ({kind})"


def place(function: Any) -> str:
    """Return the name of a function, method or class, with `file:line` if known."""
    try:
        name = str(function.__name__)
    except AttributeError:  # partials and callable objects
        name = type(function).__name__
    try:
        file = inspect.getsourcefile(inspect.unwrap(function))
        _, line = inspect.findsource(function)
    except (TypeError, OSError):  # built-ins, partials, and code without a file
        return name
    return f"{name} ({file}:{line + 1})"


def without_json(value: object) -> str:
    """Name what has no JSON form, to begin a message: `The value of 'lock'` for a dict."""
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
    """Yield the exceptions of a group and of its nested groups; any other exception by itself."""
    stack = [error]
    while stack:
        each = stack.pop()
        if isinstance(each, BaseExceptionGroup):
            stack.extend(reversed(each.exceptions))
        else:
            yield each


def lines_of(errors: Iterable[BaseException]) -> Iterator[str]:
    """Yield a line per error, `MyError: its message`; after the first ones, only a count."""
    remaining = iter(errors)
    for error in islice(remaining, _LINES):
        line = f"{type(error).__name__}: {' '.join(message_of(error).split())}"
        yield line if len(line) <= _LINE else line[:_LINE] + "…"
    if more := sum(1 for _ in remaining):
        yield f"(and {more} more)"


def message_of(error: BaseException) -> str:
    """Return an exception's message and notes, even if the message itself can't be produced."""
    return "\n".join([text_of(error), *map(str, vars(error).get("__notes__", ()))])


def text_of(error: BaseException) -> str:
    """Return an exception's message without notes, even if the message can't be produced."""
    try:
        return _text(error)
    except Exception as second:  # noqa: BLE001
        return f"(formatting its message raised {type(second).__name__})"


def _text(error: BaseException) -> str:
    if isinstance(error, ValidationError):
        return "\n".join(text for _, text in refusals(error))
    if isinstance(error, KeyError) and error.args and " " in str(error.args[0]):
        return str(error.args[0])  # a sentence, not a key: `str` would put it in quotation marks
    text = str(error) or repr(error)
    advice = _advice(error, text)
    return f"{text}\n{advice}" if advice else text


def _advice(error: BaseException, text: str) -> str:
    """Advise on an exception raised by Python itself; empty if its message is clear enough."""
    if isinstance(error, TypeError) and text.startswith(_BY_POSITION):
        return "Pass each value by name, such as name=..."
    if isinstance(error, TypeError | AttributeError) and "'coroutine' object" in text:
        return _AWAIT
    if isinstance(error, TypeError) and ("async_generator" in text or text.endswith(_AWAITED)):
        if "__notes__" in vars(error):
            return ""  # a note says it about this very function: see `note_on_await`
        return _ASYNC_FOR if "async_generator" in text else _NOT_ASYNC
    if isinstance(error, TypeError) and "__notes__" not in vars(error):
        return near_parameter(error, text)
    if isinstance(error, AttributeError | ValueError) and "__notes__" not in vars(error):
        return near_attribute(error, text)
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, _ENDS):
        for end, reason in _STOPS.items():
            if text.endswith(end):
                return f"{reason} when nothing is left. Catch it there."
    return ""


def refusals(error: ValidationError) -> Iterator[tuple[tuple[int | str, ...], str]]:
    """Yield what pydantic refused: the location of each value, and a line without its jargon."""
    for detail in error.errors(include_url=False):
        yield detail["loc"], _refusal(error.title, detail)


def _refusal(title: str, detail: "ErrorDetails") -> str:
    field = ".".join(str(each) for each in detail["loc"])
    where = f"{title}.{field}: " if field else ""
    if detail["type"] in _SENTENCES:
        return where + detail["msg"].partition(", ")[2]
    if detail["type"] == "model_attributes_type" and field.endswith("content"):
        return f"{where}must be {A_CONTENT} (given: {_excerpt(detail['input'])})"
    if detail["type"] in _OF_NAMES:
        *around, name = (title, *(_snake(str(each)) for each in detail["loc"]))
        sentence = f"{'.'.join(around)} {_OF_NAMES[detail['type']]} `{name}`"
        missing = detail["type"] == "missing"
        return sentence + ("." if missing else near_field(around[0], around[1:], name))
    return f"{where or f'{title}: '}{detail['msg']} (given: {_excerpt(detail['input'])})"


def _excerpt(value: object) -> str:
    return " ".join(repr(value).split())[:80]


def _snake(name: str) -> str:
    """Return the name that Python code uses for a field which pydantic knows by its JSON name."""
    return "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)


def check_takes(function: Any, count: int, what: str, role: str) -> None:
    """Raise TypeError if a function can't be called with that many arguments.

    Args:
        function: The function to be called.
        count: The number of arguments.
        what: What they are, such as "a ReadonlyContext".
        role: The function's role.

    Raises:
        TypeError: The function doesn't take them.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # built-ins without a signature
        return
    try:
        signature.bind(*range(count))
    except TypeError:
        raise TypeError(
            f"{place(function)}, {role}, takes {signature}, but is called with {what}. Add"
            " that parameter."
        ) from None


def note_on_names(error: BaseException, function: Any, *names: str) -> None:
    """Add a note to the error of a call with these names, if the function doesn't take them."""
    try:
        signature = inspect.signature(function)
        signature.bind(**dict.fromkeys(names))
    except ValueError:  # built-ins without a signature
        return
    except TypeError:
        error.add_note(
            f"{place(function)} takes {signature}, but is called with {', '.join(names)}. Add"
            " these parameters."
        )


def not_awaited(function: Any) -> str:
    """Say how to fix a function whose call is awaited although it returns nothing awaitable."""
    if inspect.isasyncgenfunction(function):
        return f"{place(function)} yields. Return its result instead."
    if inspect.isgeneratorfunction(function):
        return f"{place(function)} yields. Define it with `async def`, and return its result."
    return f"{place(function)} is a plain function. Define it with `async def`."


def note_on_await(error: BaseException, function: Any) -> None:
    """Add a note to the error of awaiting a call of a function that returns nothing awaitable."""
    if str(error).endswith(_AWAITED) and not inspect.iscoroutinefunction(function):
        error.add_note(not_awaited(function))


def yielding(items: Any, function: Any, owner: str, what: str) -> AsyncGenerator[Any, None]:
    """Check and return what a call of an async generator function returned.

    Args:
        items: What it returned.
        function: The function itself.
        owner: Its owner, such as "agent 'writer'".
        what: What it has to yield.

    Raises:
        TypeError: It is another kind of function.
    """
    if isinstance(items, AsyncIterator):
        return cast("AsyncGenerator[Any, None]", items)
    if inspect.iscoroutine(items):
        items.close()
    raise TypeError(
        f"{place(function)} of {owner} returned {type(items).__name__}; it must be `async def` and"
        f" yield {what}."
    )


def refuse_unknown(owner: str, values: Any, fields: Mapping[str, Any]) -> None:
    """Refuse arguments that a class lacks, and suggest those that may be meant.

    Args:
        owner: The name of the class.
        values: The arguments by name; anything else is left to the class.
        fields: The fields of the class by name; each may have an `alias`.

    Raises:
        ValueError: There is such an argument.
    """
    for name, close in unknown_names(values, fields):
        raise ValueError(f"{owner} has no `{name}`{close}")


def unknown_names(values: Any, fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the arguments that a class lacks, each with what `near` says of it.

    See `refuse_unknown`.
    """
    if not isinstance(values, dict):
        return
    names = {*fields, *(field.alias for field in fields.values() if field.alias)}
    for name in values:
        if name not in names:
            yield str(name), near(str(name), sorted(names))


def caller() -> str:
    """Return ` (file:line)` of the caller outside of the runtime and pydantic; empty if none."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith(_INSIDE):
        frame = frame.f_back
    return f" ({frame.f_code.co_filename}:{frame.f_lineno})" if frame else ""


# Tells authors of derived classes where to declare attributes.


class ExplainedModel(BaseModel):
    """A model that explains what to do if pydantic refuses an attribute that the class lacks."""

    if not TYPE_CHECKING:  # else mypy would accept any attribute name

        def __setattr__(self, name: str, value: Any) -> None:
            try:
                super().__setattr__(name, value)
            except (ValueError, AttributeError) as error:
                if not isinstance(error, ValidationError):
                    _advise(error, type(self), name, value)
                raise


def _advise(error: Exception, owner: type[BaseModel], name: str, value: object) -> None:
    """Add advice to the error; properties get none, since their errors have other reasons."""
    close = near(name, owner.model_fields)
    if name in owner.model_fields:  # set before super().__init__ has run
        error.add_note(
            f"Pass it to super().__init__({name}=...) in {place(owner)}, or set it after that."
        )
    elif close != ".":
        error.add_note(f"{owner.__name__} has no `{name}`{close}")
    elif not hasattr(owner, name) and not owner.__module__.startswith(f"{ROOT}."):
        error.add_note(
            f"Declare it in {place(owner)}, such as `{name}: {type(value).__name__}`, and pass it"
            f" to super().__init__({name}=...). Names that begin with _ need no declaration."
        )


# Arguments that a class ignores, like google-adk's, although somebody meant them.


logger = logging.getLogger(__name__)


class SpellCheckedModel(BaseModel):
    """A model that warns about unknown arguments, since a misspelt setting has no effect."""

    @model_validator(mode="before")
    @classmethod
    def _tell_of_ignored(cls, values: Any) -> Any:
        if cls.model_config.get("extra", "ignore") == "ignore":
            for name, close in unknown_names(values, cls.model_fields):
                warn_of_ignored(cls, name, close)
        return values


def warn_of_ignored(owner: type[BaseModel], name: str, instead: str) -> None:
    """Warn that an argument has no effect, and say what to do `instead`."""
    logger.warning("%s has no `%s`%s It is ignored%s.", owner.__name__, name, instead, caller())
