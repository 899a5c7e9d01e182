"""The parts of an event's content, from ADK's JSON."""

import base64
import mimetypes
import re
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from devui.debugger.events.artifact_parts import noted_file
from devui.debugger.events.summary import (
    cut_of,
    kind_of_other,
    other_fields,
    transcriptions,
    unwrapped,
    voice_activity,
)
from devui.debugger.history.paths import Path, Step
from devui.web.basic_parts import JsonTree
from devui.web.panels.chat.content_parts import (
    AroundPart,
    CallPart,
    CodePart,
    ContentPart,
    CutPart,
    FilePart,
    OtherPart,
    OutputPart,
    ResponsePart,
    SpokenPart,
    TextPart,
    ThoughtPart,
    TranscriptPart,
)
from devui.web.panels.chat.file_data import SIZE
from devui.web.panels.chat.json_in_text import json_in
from devui.web.panels.chat.previews import (
    MEDIA,
    OPENS_IN_BROWSER,
    URL_SAFE,
    media_type,
    preview_of,
)
from devui.web.panels.chat.sources import sources_of
from devui.web.panels.state.step_chart import value_at
from devui.web.text import formats
from devui.web.text.deceptive_characters import readable, visible
from devui.web.text.formats import clipped, web_address
from devui.web.text.jsontree import Rest, json_size, json_tree
from devui.web.text.remote_pictures import remote_picture
from devui.wire.events import Call, Content, Event, Fields, Part, Response, fields_in

FileLink: TypeAlias = Callable[[Path], str]
"""Returns the URL of the file at a path of an event."""

_CUT: Final[Mapping[str, str]] = {
    "MAX_TOKENS": "The answer was cut off at the output token limit.",
    "SAFETY": "The model's safety filter stopped the answer.",
    "RECITATION": "The answer was stopped because it quoted a source verbatim.",
    "MALFORMED_FUNCTION_CALL": "The model returned a malformed function call.",
}


_RAN: Final = frozenset({"ok", "unspecified", ""})
"""The outcomes of code that didn't fail."""


def content_parts(
    event: Event, *, rest: Rest | None = None, file: FileLink | None = None
) -> tuple[ContentPart, ...]:
    """Return every part of an event in full and in order, then what it says outside its parts.

    `rest(path)` links to what is omitted at that path of the event, `file(path)` to the file there.
    """
    parts = (
        _part(part, _PartPosition(number, rest, file), event)
        for number, part in enumerate(event.parts)
    )
    return (*(part for part in parts if part), *around(event))


@dataclass(frozen=True, slots=True)
class _PartPosition:
    """The position of one part in an event, and links into it."""

    number: int
    rest: Rest | None
    file: FileLink | None

    @property
    def path(self) -> Path:
        return ("content", "parts", self.number)

    def tree(self, value: object, *steps: Step) -> JsonTree:
        """Return the tree of a value that is at `steps` within this part."""
        rest, place = self.rest, (*self.path, *steps)
        return json_tree(
            value, rest=None if rest is None else lambda path, at: rest((*place, *path), at)
        )


def _part(part: Part, within: _PartPosition, event: Event) -> ContentPart | None:
    if part.call:
        return _call(part.call, within, event)
    if part.response:
        return _response(part.response, within, event)
    markdown = event.author != "user"
    piece = text_part(part, markdown=markdown) or attachment(part, within.number, within.file)
    if piece or "text" in part.fields:
        return piece
    return other_part(other_fields(part), within.tree)


def other_part(fields: Fields, tree: Callable[[object], JsonTree] = json_tree) -> OtherPart | None:
    """Return fields of an event without a template of their own; None if there are none."""
    if not fields:
        return None
    name, short = kind_of_other(fields)
    return OtherPart(visible(name.capitalize()), visible(short), tree(fields))


def text_part(
    part: Part, *, markdown: bool, clean: Callable[[str], str] = visible, text: str | None = None
) -> TextPart | ThoughtPart | None:
    """Return a text or thought, with `text` instead of its own; None for other parts and empty
    text."""
    if not part.text:
        return None
    text = clean(clipped(part.text if text is None else text))
    if part.is_thought:
        return ThoughtPart(text)
    return TextPart(text, markdown=markdown, values=json_in(part.text))


def spoken_parts(
    content: Content,
    *,
    markdown: bool,
    file: FileLink | None = None,
    saved: Container[str] = (),
) -> tuple[SpokenPart, ...]:
    """Return the parts of a content that a person reads, as the chat shows them.

    Notes in place of the files `saved` are left out, since the chat shows these themselves.
    """
    pairs = (
        (text_part(part, markdown=markdown, clean=readable), attachment(part, number, file))
        for number, part in enumerate(content.parts)
        if noted_file(part.text) not in saved
    )
    return tuple(part for pair in pairs for part in pair if part)


def as_markdown(event: Event) -> str:
    """Return what a person reads in an event, as Markdown: text, code and printed results.

    Thoughts, calls and files are left out; for an error, it is the message.
    """
    texts = [_as_markdown(part) for part in event.parts]
    failure = event.error_message if not any(texts) else ""
    return "\n\n".join(filter(None, (*texts, str(failure or ""))))


def _as_markdown(part: Part) -> str:
    if code := part.code:
        return _fence(str(code.get("code", "")), str(code.get("language", "")).lower())
    if output := part.code_result:
        return _fence(str(output.get("output", "")))
    return "" if part.is_thought else part.text or ""


def _fence(code: str, language: str = "") -> str:
    """Return a block of code in a fence that is longer than any inside it."""
    longest = max((len(each) for each in re.findall("`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def attachment(
    part: Part, number: int, file: FileLink | None
) -> CodePart | OutputPart | FilePart | None:
    """Return code, its output or a file; None for other parts. `number` is the part's index."""
    if code := part.code:
        language = str(code.get("language", "")).lower()
        return CodePart(visible(language), visible(clipped(str(code.get("code", "")))))
    if output := part.code_result:
        outcome = str(output.get("outcome", "")).removeprefix("OUTCOME_").lower()
        text, has_failed = visible(clipped(str(output.get("output", "")))), outcome not in _RAN
        return OutputPart(visible(outcome.replace("_", " ")), text, has_failed)
    return file_part(part, ("content", "parts", number), file)


def file_part(part: Part, path: Path, file: FileLink | None) -> FilePart | None:
    """Return the file of the part at `path` in the event; None if it has none."""
    if data := part.inline_data:
        size = data.get(SIZE)
        if not isinstance(size, int):  # an agent may write any member
            size = len(str(data.get("data", "")).rstrip("=")) * 3 // 4
        name = visible(str(data.get("displayName") or "inline data"))
        href = file((*path, "inlineData")) if file else ""
        mime = str(data.get("mimeType", ""))
        return FilePart(
            name,
            visible(mime),
            formats.size(size),
            href,
            opens=media_type(mime) in OPENS_IN_BROWSER,
            show=MEDIA.get(media_type(mime)) if href else None,
            preview=preview_of(data, href),
        )
    if reference := part.file_data:
        address = str(reference.get("fileUri") or "")
        name = visible(clipped(str(reference.get("displayName") or address)))
        mime = str(reference.get("mimeType") or mimetypes.guess_type(address)[0] or "")
        remote = remote_picture(address) if media_type(mime).startswith("image/") else None
        return FilePart(
            name,
            visible(mime),
            href=web_address(address),
            remote_picture=remote,
        )
    return None


class InlineFile(NamedTuple):
    """A file stored in an event."""

    content: bytes
    mime: str
    name: str


def inline_file(event: Event, path: Path) -> InlineFile | None:
    """Return the `inlineData` at a path of an event; None if there is none or it isn't base64."""
    data = fields_in(value_at(dict(event.fields), path))
    try:
        content = base64.b64decode(str(data["data"]).translate(URL_SAFE), validate=True)
    except (KeyError, ValueError):
        return None
    mime = str(data.get("mimeType") or "")
    name = str(data.get("displayName") or f"file{mimetypes.guess_extension(mime) or ''}")
    return InlineFile(content, mime, name)


def response_files(response: Response, number: int, file: FileLink | None) -> tuple[FilePart, ...]:
    """Return the files of the tool response in part `number`."""
    path = ("content", "parts", number, "functionResponse", "parts")
    parts = (file_part(part, (*path, place), file) for place, part in enumerate(response.parts))
    return tuple(filter(None, parts))


def around(event: Event) -> tuple[AroundPart, ...]:
    """Return what the event says outside the parts of its content."""
    aloud = transcriptions(event).items()
    parts: list[AroundPart] = [TranscriptPart(w, readable(clipped(text))) for w, text in aloud]
    if sources := sources_of(event):
        parts.append(sources)
    reason = cut_of(event)
    if reason and not (reason == event.error_code and event.error_message):  # it says the same
        parts.append(CutPart(visible(reason), _CUT.get(reason, "The model stopped early.")))
    if voice := other_part(voice_activity(event)):
        parts.append(voice)
    return tuple(parts)


def _call(call: Call, within: _PartPosition, event: Event) -> CallPart:
    return CallPart(
        name=visible(call.name),
        id=visible(str(call.id or "")),
        args=within.tree(call.args, "functionCall", "args"),
        size=json_size(call.args),
        long_running=call.id in event.long_running_ids,
    )


def _response(response: Response, within: _PartPosition, event: Event) -> ResponsePart:
    value = unwrapped(response.value)
    wrap = () if value is response.value else ("result",)
    files = response_files(response, within.number, within.file)
    return ResponsePart(
        name=visible(response.name),
        id=visible(str(response.id or "")),
        value=within.tree(value, "functionResponse", "response", *wrap)
        if value or not files
        else None,
        size=json_size(value),
        files=files,
        failed=response.is_error and response.id not in event.confirmations,
    )
