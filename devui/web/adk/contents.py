"""The contents of requests: messages, state and labels, within the limits of a runtime."""

from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator

from devui.debugger.events.contents import Content, WireObject


class Strict(WireObject):
    """A request body in which unknown members are errors."""


DEEPEST: Final = 256
"""The nesting limit of arrays and objects in an event: what pydantic writes (`deep_reading`)."""


def _within(levels: int) -> BeforeValidator:
    """Refuse a value that is nested too deeply for its place, `levels` deep in an event."""

    def check(value: Any) -> Any:
        layer, depth = [value], 0
        while layer := [each for each in layer if isinstance(each, dict | list)]:
            if (depth := depth + 1) > DEEPEST - levels:
                raise ValueError(f"is nested deeper than {DEEPEST - levels} levels")
            layer = [
                i for each in layer for i in (each.values() if isinstance(each, dict) else each)
            ]
        return value

    return BeforeValidator(check)


def _without_nul(key: str) -> str:
    if "\0" in key:
        raise ValueError("a state key can't contain a NUL character")
    return key


State = dict[Annotated[str, AfterValidator(_without_nul)], Any]
"""State keys with their prefixes, and their values."""

Delta = Annotated[State, _within(2)]
"""The state changes of an event."""

Labels = Annotated[dict[str, Any], _within(1)]
"""The custom metadata of an event."""


def _user_content(content: Content) -> Content:
    """Validate the content of a user's message. Raises ValueError for what Runners refuse."""
    parts = content.parts or []
    if not parts:
        raise ValueError("has no parts: add at least one, such as text")
    if any(part.function_call for part in parts):
        raise ValueError("contains a function call, which only agents can make")
    answers = any(part.function_response and part.function_response.id for part in parts)
    if answers and any(part.text for part in parts):
        raise ValueError("mixes function responses with text: send them as two messages")
    return content


Message = Annotated[Content, _within(1), AfterValidator(_user_content)]
"""A user's message."""
