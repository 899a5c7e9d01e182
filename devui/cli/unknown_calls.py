"""Lists the calls whose outcome is unknown, with the options that decide about them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from devui.cli.output import plain

DECISIONS: Final = ("run", "fail", "recorded", "wait")
"""The words for `--call ID=WHAT`; anything else is the call's result as JSON."""
_VALUE_LENGTH: Final = 60
"""How many characters of a value are shown."""


def choices(unknown: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield lines with each call and the options of `devui resume` that decide about it."""
    yield "these calls have no committed result; say what to do with each:"
    for call in unknown:
        args = ", ".join(f"{name}={_short(value)}" for name, value in call["args"].items())
        result = call["recorded"]
        about = "outcome unknown"
        about = about if result is None else f"returned {_short(result)}"
        about = about if call["ran"] else "held back, never made"
        yield plain(f"  --call {call['id']}=WHAT  {call['tool']}({args}), {about}")
        words = [each for each in DECISIONS if each not in _left_out(call)]
        yield f"    WHAT is {', '.join(words)}, or its result as JSON"


def _left_out(call: Mapping[str, Any]) -> set[str]:
    """Return the decisions that a call doesn't allow."""
    no_record = {"recorded"} if call["recorded"] is None else set()
    return no_record | (set() if call["longRunning"] and call["ran"] else {"wait"})


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _VALUE_LENGTH else text[:_VALUE_LENGTH] + "…"
