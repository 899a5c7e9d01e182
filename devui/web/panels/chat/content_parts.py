"""The parts of an event's content, as the inspector and the chat show them."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from devui.web.basic_parts import JsonTree


@dataclass(frozen=True, slots=True)
class TextPart:
    template: ClassVar[str] = "chat/text.html"
    text: str
    markdown: bool = False
    """Whether the text was written as markdown; people's own messages are shown as typed."""
    value: JsonTree | None = None
    """What the text says, if all of it is a JSON object or array."""


@dataclass(frozen=True, slots=True)
class ThoughtPart:
    template: ClassVar[str] = "chat/thought.html"
    text: str
    open: bool = False


@dataclass(frozen=True, slots=True)
class CallPart:
    template: ClassVar[str] = "chat/call.html"
    name: str
    id: str
    args: JsonTree
    size: str = ""
    """Of the arguments, as of a result's value."""
    long_running: bool = False
    try_href: str = ""
    """Where the tool is run by itself; "" for what is no tool of the app's."""


@dataclass(frozen=True, slots=True)
class ResponsePart:
    template: ClassVar[str] = "chat/response.html"
    name: str
    id: str
    value: JsonTree | None
    """None of a response that has only files."""
    size: str = ""
    """`285 kB · object with 2 keys`; "" for a small value."""
    failed: bool = False
    files: tuple["FilePart", ...] = ()


@dataclass(frozen=True, slots=True)
class CodePart:
    template: ClassVar[str] = "chat/code.html"
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class OutputPart:
    """What executed code printed."""

    template: ClassVar[str] = "chat/output.html"
    outcome: str
    output: str


@dataclass(frozen=True, slots=True)
class PlainPreview:
    """The beginning of a file of text."""

    template: ClassVar[str] = "chat/plain_preview.html"
    text: str
    more: str = ""
    """That there is more, in a sentence; "" if there is not."""


@dataclass(frozen=True, slots=True)
class TablePreview:
    """The first rows of a CSV file."""

    template: ClassVar[str] = "chat/table_preview.html"
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: str
    """How many rows are left out, in a sentence; "" for none."""


@dataclass(frozen=True, slots=True)
class PdfPreview:
    """The first page of a PDF; the others come once it is in sight."""

    template: ClassVar[str] = "chat/pdf_preview.html"
    first_href: str = ""
    """The picture of the first page; "" if this server can't draw it."""
    pages_href: str = ""


FilePreview: TypeAlias = PlainPreview | TablePreview | PdfPreview | JsonTree
Medium = Literal["picture", "audio", "video"]


@dataclass(frozen=True, slots=True)
class FilePart:
    """Bytes or a reference to them. Nothing is loaded from elsewhere."""

    template: ClassVar[str] = "chat/file.html"
    name: str
    mime: str
    size: str = ""
    href: str = ""
    """Where its bytes are; "" where no browser can get them."""
    show: Medium | None = None
    """How the page shows it: the bytes are handed out by this server, and checked there."""
    preview: FilePreview | None = None


@dataclass(frozen=True, slots=True)
class TranscriptPart:
    """What was said aloud."""

    template: ClassVar[str] = "chat/transcript.html"
    word: str
    """`heard` of the user, `spoken` by the model."""
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    title: str
    href: str
    """"" for what is no web address."""
    address: str


@dataclass(frozen=True, slots=True)
class SourcesPart:
    """What an answer rests on: grounding, citations, pages that were read."""

    template: ClassVar[str] = "chat/sources.html"
    searches: tuple[str, ...]
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class CutPart:
    """The model stopped before the end of its answer."""

    template: ClassVar[str] = "chat/cut.html"
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class OtherPart:
    """A part of a kind that has no view of its own."""

    template: ClassVar[str] = "chat/other.html"
    value: JsonTree


SpokenPart: TypeAlias = TextPart | ThoughtPart | CodePart | OutputPart | FilePart
"""What a person reads, without the calls and results of tools."""

AroundPart: TypeAlias = TranscriptPart | SourcesPart | CutPart
"""What an event says besides the parts of its content."""

ContentPart: TypeAlias = (
    TextPart
    | ThoughtPart
    | CallPart
    | ResponsePart
    | CodePart
    | OutputPart
    | FilePart
    | AroundPart
    | OtherPart
)
