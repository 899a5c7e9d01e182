"""What a script can see of a request, and the templates it fills from it (devui's own)."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.genai import types

from devui.runtime.models.quoting import is_quoted

_TEMPLATE = re.compile(r"\{([A-Za-z_]\w*(?:\.\w+)*)\}")
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Turn:
    """The end of a conversation: the user's last words and what happened since."""

    user_text: str = ""
    """The last text of the user; words quoted from other agents do not count."""
    results: Mapping[str, Any] = field(default_factory=dict)
    """Responses in the last content, by tool; empty when the user spoke last."""
    calls: Counter[str] = field(default_factory=Counter)
    """How often each tool has answered since the user spoke."""

    @classmethod
    def read(cls, newest_first: Iterable[types.Content]) -> "Turn":
        """Read the turn from a conversation's contents, the last one first."""
        calls: Counter[str] = Counter()
        results = None
        for content in newest_first:
            results = _results(content) if results is None else results
            text = _user_text(content)
            if text:
                return cls(text, results, calls)
            calls.update(_responses(content))
        return cls("", results or {}, calls)


def fill(template: Any, values: Mapping[str, Any], *, embedded: bool = False) -> Any:
    """Fill `{name.key}` templates in strings, also within dicts and lists.

    A string that is one template becomes the value itself, unless `embedded`
    asks for text. Templates without a value stay as they are.
    """
    if isinstance(template, dict):
        return {key: fill(item, values) for key, item in template.items()}
    if isinstance(template, list):
        return [fill(item, values) for item in template]
    if not isinstance(template, str):
        return template
    whole = _TEMPLATE.fullmatch(template)
    if whole and not embedded:
        value = _look_up(whole[1], values)
        return template if value is _MISSING else value
    return _TEMPLATE.sub(lambda found: _as_text(found, values), template)


def _as_text(found: re.Match[str], values: Mapping[str, Any]) -> str:
    value = _look_up(found[1], values)
    if value is _MISSING:
        return found[0]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _look_up(path: str, values: Mapping[str, Any]) -> Any:
    found: Any = values
    for key in path.split("."):
        if isinstance(found, Mapping):
            found = found.get(key, _MISSING)
        elif isinstance(found, list) and key.isdigit() and int(key) < len(found):
            found = found[int(key)]
        else:
            return _MISSING
    return found


def _user_text(content: types.Content) -> str:
    if content.role != "user" or is_quoted(content):
        return ""
    return "\n".join(part.text for part in content.parts or [] if part.text)


def _responses(content: types.Content) -> list[str]:
    parts = content.parts or []
    return [p.function_response.name or "" for p in parts if p.function_response]


def _results(content: types.Content) -> dict[str, Any]:
    """What tools returned in this content; the wrapping `{"result": value}` is taken off."""
    found = {}
    for part in content.parts or []:
        if part.function_response:
            response = part.function_response.response or {}
            unwrapped = response["result"] if list(response) == ["result"] else response
            found[part.function_response.name or ""] = unwrapped
    return found
