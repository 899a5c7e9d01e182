"""The server's own model of a message accepts the same values as google-genai's."""

import json
import typing
import warnings

from google.genai import types
from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel

from devui.debugger.events.contents import Content

VALUES = [None, True, 0, 7, 1.5, "", "x", "maybe", "true", "7", "aGk=", "_-8", "%", [], [None], {}]
VALUES += [[7], ["x"], {"foo": 1}, {"x": [None, {"y": 1.5}]}, "NULL_VALUE", 10**30, "\0", "é"]
VALUES += ["a", "aGk", "aG==", "aGl=", "a=Gk", "aGk\n", "aGk==", "aGkx", "+/-_"]


def models(kind) -> list[type[BaseModel]]:
    """Return the models in a type."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return [kind]
    return [each for inner in typing.get_args(kind) for each in models(inner)]


def cases(kind: type[BaseModel], wrap) -> typing.Iterator[dict[str, object]]:
    """Yield contents that have each of the values for each member."""
    for name, field in [*kind.model_fields.items(), ("foo", None)]:
        alias = to_camel(name)
        yield from (wrap({alias: value}) for value in VALUES)
        for inner in models(field.annotation) if field else ():
            many = typing.get_origin(typing.get_args(field.annotation)[0]) is list

            def put(value, alias=alias, many=many):
                return wrap({alias: [value] if many else value})

            yield from cases(inner, put)


def accepts(kind: type[BaseModel], text: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            kind.model_validate_json(text)
    except (ValidationError, AttributeError):  # from an Enum of google-genai that gets a number
        return False
    return True


def test_each_member_accepts_the_same_values() -> None:
    every = [json.dumps(case) for case in cases(types.Content, lambda value: value)]
    differing = [text for text in every if accepts(types.Content, text) != accepts(Content, text)]
    assert (differing, len(every) > 3000) == ([], True)
