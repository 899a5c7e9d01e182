"""Converts the JSON that a model writes to the annotated types of a function (adk-runtime 8.2)."""

import collections.abc
import enum
import inspect
import sys
import typing
from collections.abc import Iterator, Mapping
from functools import cached_property, partial, reduce
from operator import or_
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    Required,
    get_args,
    get_origin,
    get_type_hints,
)

import typing_extensions
from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError
from pydantic.fields import FieldInfo

from devui.runtime.mistakes import brief, message_of

# Types that pydantic declares differently from what it accepts, or rejects (adk-runtime 8.2).


_LAZY = (collections.abc.Iterable, collections.abc.Iterator, collections.abc.Generator)
_NEEDS_ANOTHER_TYPED_DICT = sys.version_info < (3, 12)
_MARKS = (Required, NotRequired)


def for_json(annotation: Any) -> Any:
    """Return the annotation in a form that pydantic can declare and validate from JSON.

    - An `Iterable` becomes a list; pydantic would check its items only when the function iterates.
    - A `Literal` with enum members accepts their values, which is what the declaration says.
    - Before Python 3.12, pydantic rejects `typing.TypedDict`: each is recreated, except one that
      contains itself.
    """
    return _for_json(annotation, ())


def _for_json(annotation: Any, around: tuple[Any, ...]) -> Any:
    if annotation in _LAZY:
        return list
    if _is_old_typed_dict(annotation):
        return annotation if annotation in around else _anew(annotation, (*around, annotation))
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return _literal(annotation, members)
    if origin is Annotated:
        members = members[:1]
    new_members: Any = tuple(_for_json(member, around) for member in members)
    if origin in _LAZY:
        return collections.abc.Sequence[new_members[0]]
    if all(new is old for new, old in zip(new_members, members, strict=True)):
        return annotation
    if origin is Annotated:
        return Annotated[(new_members[0], *annotation.__metadata__)]
    return reduce(or_, new_members) if origin is UnionType else origin[new_members]


def _literal(annotation: Any, values: tuple[Any, ...]) -> Any:
    members = [value for value in values if isinstance(value, enum.Enum)]
    return (
        Annotated[annotation, BeforeValidator(partial(_member, members))] if members else annotation
    )


def _member(members: list[enum.Enum], value: Any) -> Any:
    alike = (each for each in members if type(each.value) is type(value) and each.value == value)
    return next(alike, value)


def _is_old_typed_dict(annotation: Any) -> bool:
    is_typed_dict = _NEEDS_ANOTHER_TYPED_DICT and typing.is_typeddict(annotation)
    return is_typed_dict and type(annotation).__module__ == "typing"


def _anew(kind: Any, around: tuple[Any, ...]) -> Any:
    fields = {}
    for key, hint in get_type_hints(kind, include_extras=True).items():
        bare = get_args(hint)[0] if get_origin(hint) in _MARKS else hint
        mark: Any = Required if key in kind.__required_keys__ else NotRequired
        fields[key] = mark[_for_json(bare, around)]
    make: Any = typing_extensions.TypedDict
    typed_dict = make(kind.__name__, fields)
    typed_dict.__doc__, typed_dict.__module__ = kind.__doc__, kind.__module__
    return typed_dict


_CONFIG = ConfigDict(coerce_numbers_to_str=True)  # models write `zip=12345` for strings
_JSON = (str, int, float, bool)
_LINES = 8
"""The maximum number of mistakes in one call to report to a model."""


class ArgumentError(ValueError):
    """Arguments of a call that don't match the function's annotations, with a line for each."""


class Converter:
    """Converts the values that a model writes for one parameter of a function.

    pydantic decides, as it does for the declaration that the model got. A value that equals the
    parameter's default is passed on as it is: `x: str = None` accepts null. So is any value if
    pydantic doesn't know the parameter's type.
    """

    def __init__(self, parameter: inspect.Parameter) -> None:
        self._name = parameter.name
        self._default = parameter.default
        self._annotation = annotation_of(parameter)

    def __call__(self, value: Any) -> Any:
        """Return the value in the parameter's type.

        Raises:
            ArgumentError: it can't be converted.
        """
        if type(value) is self._annotation and self._annotation in _JSON:
            return value
        if type(value) is type(self._default) and value == self._default:
            return self._default
        if self._adapter is None:
            return value
        try:
            return self._adapter.validate_python([value])[0]
        except ValidationError as error:
            raise ArgumentError("\n".join(_lines((self._name,), error))) from error
        except Exception as error:  # anything that the code of users' types raises
            raise ArgumentError(
                f"- {self._name}: {' '.join(message_of(error).split())}; given {brief(value)}"
            ) from error

    @cached_property
    def _adapter(self) -> TypeAdapter[list[Any]] | None:
        # A list, since models, dataclasses and TypedDicts on their own don't take a configuration.
        kind: Any = list
        try:
            list_type = kind[self._annotation]
            return TypeAdapter(list_type, config=_CONFIG)
        except (PydanticSchemaGenerationError, PydanticUserError, TypeError, NameError):
            return None  # such a type is declared by hand, and converted there, too


def converters(parameters: Mapping[str, inspect.Parameter]) -> dict[str, Converter]:
    """Return the converters of the annotated parameters, by name."""
    empty = inspect.Parameter.empty
    return {
        name: Converter(each) for name, each in parameters.items() if each.annotation is not empty
    }


def annotation_of(parameter: inspect.Parameter) -> Any:
    """Return the annotation with the constraints in a default (`= Field(ge=1)`); Any if none."""
    empty = parameter.annotation is inspect.Parameter.empty
    annotation = Any if empty else for_json(parameter.annotation)
    default = parameter.default
    return Annotated[annotation, default] if isinstance(default, FieldInfo) else annotation


def checked_fields(model: type[BaseModel], fields: Mapping[str, Any]) -> None:
    """Check that a pydantic class accepts these values for its fields.

    Raises:
        ArgumentError: it doesn't.
    """
    try:
        model.model_validate(fields)
    except ValidationError as error:
        raise ArgumentError("\n".join(_lines((), error))) from error


def correction(tool: str, error: ArgumentError) -> dict[str, str]:
    """Return the error that tells a model that the arguments of its call don't fit."""
    lines = str(error).split("\n")
    if len(lines) > _LINES:
        lines[_LINES:] = [f"- (and {len(lines) - _LINES} more)"]
    return {
        "error": f"{tool}() was not called, since its arguments do not fit:\n"
        + "\n".join(lines)
        + "\nCorrect them and call it again."
    }


def _lines(around: tuple[str, ...], error: ValidationError) -> Iterator[str]:
    """Yield a line for each mistake; `around` replaces the list index at the start of its path."""
    for each in error.errors(include_url=False, include_context=False):
        loc = (*around, *each["loc"][len(around) :])
        path = ".".join(map(str, loc)) or error.title
        yield " ".join(f"- {path}: {each['msg']}; given {brief(each['input'])}".split())
