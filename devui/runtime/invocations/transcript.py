"""Events as lines of text, for a terminal (adk-runtime 3.6)."""

import sys
from collections.abc import Iterator

from google.genai import types

from devui.runtime.events.event import Event


def print_event(event: Event, *, verbose: bool = False) -> None:
    """Print what the event says, as `run_debug` does (adk-runtime 3.6)."""
    sys.stdout.write(_transcript(event, verbose=verbose))


def _transcript(event: Event, *, verbose: bool) -> str:
    """What the event says, a line for each part; calls and results only if `verbose`."""
    if event.partial:
        return ""
    parts = (event.content.parts if event.content else None) or []
    lines = [line for part in parts for line in _lines(part, verbose)]
    if event.error_code:
        lines.append(f"[error {event.error_code}] {event.error_message or ''}".rstrip())
    return "".join(f"{event.author} > {line}\n" for line in lines)


def _lines(part: types.Part, verbose: bool) -> Iterator[str]:
    if part.text and not part.thought:
        yield part.text
    if verbose and part.function_call:
        yield f"[call] {part.function_call.name}({part.function_call.args})"
    if verbose and part.function_response:
        yield f"[result] {part.function_response.name}: {part.function_response.response}"
