"""Calls that a model has written into its text, since it knows no other way (adk-runtime 9.4)."""

import json
import re
from collections.abc import Collection
from typing import Any

from google.genai import types

from devui.runtime.models.chat_calls import read_arguments
from devui.runtime.models.chat_dialect import Json

_DEEPSEEK = re.compile(
    r"<\uff5ctool\u2581call\u2581begin\uff5c>function<\uff5ctool\u2581sep\uff5c>([^\n\r]+?)\s*\n(.*?)<\uff5ctool\u2581call\u2581end\uff5c>",
    re.DOTALL,
)
"""DeepSeek's own marks, which services sometimes hand on as text."""
_DEEPSEEK_FRAME = re.compile(r"<\uff5ctool\u2581calls\u2581(?:begin|end)\uff5c>")
_DECODER = json.JSONDecoder()


def written_calls(text: str, tools: Collection[str]) -> tuple[str, list[types.Part]]:
    """What a text says beside the calls in it, and these calls.

    A call is a JSON object with `name` and `arguments`, anywhere in the text, or stands between
    DeepSeek's marks.

    Args:
        text: The answer.
        tools: The names of the tools that may be called; what names no other is left as it is.
    """
    calls: list[types.Part] = []

    def taken(found: re.Match[str]) -> str:
        call = _call({"name": found[1].strip(), "arguments": found[2]}, tools)
        calls.extend(call)
        return "" if call else found[0]

    left = _DEEPSEEK.sub(taken, text)
    if calls:
        left = _DEEPSEEK_FRAME.sub("", left)
    kept: list[str] = []
    done, start = 0, left.find("{")
    while start >= 0:
        value, end = _object(left, start)
        if call := _call(value, tools):
            calls.extend(call)
            kept.append(left[done:start])
            done = end
        start = left.find("{", end)
    return ("".join([*kept, left[done:]]).strip(), calls) if calls else (text, [])


def _object(text: str, start: int) -> tuple[Any, int]:
    """The JSON value that begins there, and where it ends; None if there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return None, start + 1


def _call(value: Any, tools: Collection[str]) -> list[types.Part]:
    if not isinstance(value, dict) or value.get("name") not in tools:
        return []
    given: Json | str | None = value.get("arguments")
    arguments = read_arguments(given) if isinstance(given, str) else given
    if not isinstance(arguments, dict):
        return []
    call_id = str(value["id"]) if value.get("id") else None
    call = types.FunctionCall(id=call_id, name=value["name"], args=arguments)
    return [types.Part(function_call=call)]
