"""The parts of an event's content, from ADK's JSON."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from devui.debugger.summary import awaiting_consent, unwrapped
from devui.web.parts.content import (
    CallPart,
    CodePart,
    ContentPart,
    FilePart,
    OtherPart,
    OutputPart,
    ResponsePart,
    SpokenPart,
    TextPart,
    ThoughtPart,
)
from devui.web.text import formats
from devui.web.text.bounds import clipped
from devui.web.text.jsontree import json_tree
from devui.web.text.visible import readable, visible


def raw_parts(event: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The parts as they are in the event."""
    parts = mapping(event.get("content")).get("parts")
    return [mapping(part) for part in parts] if isinstance(parts, list) else []


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def content_parts(event: Mapping[str, Any]) -> tuple[ContentPart, ...]:
    """Every part, in order, in full."""
    long_running = set(event.get("longRunningToolIds") or ())
    markdown = event.get("author") != "user"
    waiting = awaiting_consent(event)
    return tuple(
        shown
        for part in raw_parts(event)
        for shown in [_part(part, long_running, waiting, markdown=markdown)]
        if shown
    )


def _part(
    part: Mapping[str, Any], long_running: set[str], waiting: Mapping[str, Any], *, markdown: bool
) -> ContentPart | None:
    if part.get("functionCall"):
        return _call(mapping(part["functionCall"]), long_running)
    if part.get("functionResponse"):
        return _response(mapping(part["functionResponse"]), waiting)
    spoken = text_part(part, markdown=markdown) or attachment(part)
    if spoken or "text" in part:
        return spoken
    known = {key: value for key, value in part.items() if key != "thoughtSignature"}
    return OtherPart(json_tree(known)) if known else None


def text_part(
    part: Mapping[str, Any], *, markdown: bool, cleaned: Callable[[str], str] = visible
) -> TextPart | ThoughtPart | None:
    """Text or a thought; None for other parts and for empty text."""
    text = part.get("text")
    if not text:
        return None
    shown = cleaned(clipped(str(text)))
    return ThoughtPart(shown) if part.get("thought") else TextPart(shown, markdown=markdown)


def spoken(event: Mapping[str, Any], *, markdown: bool) -> tuple[SpokenPart, ...]:
    """What the event's content says to a person, as the chat shows it."""
    parts = raw_parts(event)
    shown = ((text_part(p, markdown=markdown, cleaned=readable), attachment(p)) for p in parts)
    return tuple(part for pair in shown for part in pair if part)


def attachment(part: Mapping[str, Any]) -> CodePart | OutputPart | FilePart | None:
    """Code, what it printed, or a file; None for other parts."""
    code = mapping(part.get("executableCode"))
    if code:
        language = str(code.get("language", "")).lower()
        return CodePart(visible(language), visible(clipped(str(code.get("code", "")))))
    output = mapping(part.get("codeExecutionResult"))
    if output:
        outcome = str(output.get("outcome", "")).removeprefix("OUTCOME_").lower()
        return OutputPart(visible(outcome), visible(clipped(str(output.get("output", "")))))
    return next(_files(part), None)


def _files(part: Mapping[str, Any]) -> Iterator[FilePart]:
    data, reference = mapping(part.get("inlineData")), mapping(part.get("fileData"))
    if data:
        size = len(str(data.get("data", ""))) * 3 // 4
        name = str(data.get("displayName") or "inline data")
        yield FilePart(visible(name), visible(str(data.get("mimeType", ""))), formats.size(size))
    elif reference:
        name = str(reference.get("displayName") or reference.get("fileUri", ""))
        yield FilePart(visible(name), visible(str(reference.get("mimeType", ""))))


def _call(call: Mapping[str, Any], long_running: set[str]) -> CallPart:
    return CallPart(
        name=visible(str(call.get("name", ""))),
        id=visible(str(call.get("id") or "")),
        args=json_tree(mapping(call.get("args"))),
        long_running=call.get("id") in long_running,
    )


def _response(response: Mapping[str, Any], waiting: Mapping[str, Any]) -> ResponsePart:
    value = response.get("response")
    return ResponsePart(
        name=visible(str(response.get("name", ""))),
        id=visible(str(response.get("id") or "")),
        value=json_tree(unwrapped(value)),
        failed=bool(mapping(value).get("error")) and response.get("id") not in waiting,
    )
