"""In which fields two JSON values differ."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from devui.wire.excerpts import around_difference
from devui.wire.recordings import FieldDifference, RecordedCall

MOST = 20
"""How many differences are told."""
_VALUE = 80
"""Characters of a value in a sentence."""


def differences(expected: Any, actual: Any) -> list[FieldDifference]:
    """The first fields in which the values differ, in the order of the expected one."""
    return list(islice(_differences("", expected, actual), MOST))


def _differences(path: str, expected: Any, actual: Any) -> Iterator[FieldDifference]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in [*expected, *(name for name in actual if name not in expected)]:
            inner = f"{path}.{name}" if path else str(name)
            yield from _differences(inner, expected.get(name), actual.get(name))
    elif isinstance(expected, list) and isinstance(actual, list):
        for place in range(max(len(expected), len(actual))):
            yield from _differences(f"{path}[{place}]", _at(expected, place), _at(actual, place))
    elif not _same(expected, actual):
        yield FieldDifference(field=path, expected=expected, actual=actual)


def _at(values: list[Any], place: int) -> Any:
    return values[place] if place < len(values) else None


def _same(expected: Any, actual: Any) -> bool:
    """As JSON: 1 is 1.0, but true is not 1."""
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(expected == actual)


def named(found: Sequence[FieldDifference]) -> str:
    """The first fields in words, as the end of a sentence."""
    first = ", ".join(each.field or "value" for each in found[:3])
    return f"{first} differ{'s' if len(found) == 1 else ''}."


def other_result(call: RecordedCall, first: FieldDifference) -> str:
    """A sentence about a live tool's result, with the first field of it that differs."""
    was, now = (json.dumps(each, ensure_ascii=False) for each in (first.expected, first.actual))
    return (
        f"{call.name} gave {call.agent} another result than recorded: {first.field or 'value'} was"
        f" {around_difference(was, now, _VALUE)}, and is {around_difference(now, was, _VALUE)} now"
    )
