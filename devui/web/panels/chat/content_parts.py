"""The parts of an event's content, as the inspector and the chat show them."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from devui.web.basic_parts import JsonTree
from devui.web.text.remote_pictures import RemotePicture


@dataclass(frozen=True, slots=True)
class TextPart:
    template: ClassVar[str] = "chat/text.html"
    text: str
    markdown: bool = False
    """Whether the text was written as Markdown; people's own messages are shown as typed."""
    values: tuple["JsonInText", ...] = ()


@dataclass(frozen=True, slots=True)
class JsonInText:
    """A JSON object or array in a text."""

    preview: str
    """Its beginning on one line; "" if it is the whole text."""
    tree: JsonTree


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
    """The size of the arguments, in the format of `ResponsePart.size`."""
    long_running: bool = False
    ran: str = ""
    """The arguments that a person had the tool called with instead, on one line."""
    try_href: str = ""
    """The page that runs the tool by itself; "" if it isn't one of the app's tools."""


@dataclass(frozen=True, slots=True)
class ResponsePart:
    template: ClassVar[str] = "chat/response.html"
    name: str
    id: str
    value: JsonTree | None
    """The response's value; None if it has only files."""
    size: str = ""
    """The size of a large value: `285 kB · object with 2 keys`; "" for a small one."""
    failed: bool = False
    files: tuple["FilePart", ...] = ()
    try_href: str = ""
    """The same as for a call."""


@dataclass(frozen=True, slots=True)
class CodePart:
    template: ClassVar[str] = "chat/code.html"
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class OutputPart:
    """The output of executed code."""

    template: ClassVar[str] = "chat/output.html"
    outcome: str
    output: str
    has_failed: bool = False


@dataclass(frozen=True, slots=True)
class PlainPreview:
    """The beginning of a text file."""

    template: ClassVar[str] = "chat/plain_preview.html"
    text: str
    more: str = ""
    """A sentence saying that the text continues; "" if it doesn't."""


@dataclass(frozen=True, slots=True)
class TablePreview:
    """The first rows of a CSV file."""

    template: ClassVar[str] = "chat/table_preview.html"
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: str
    """A sentence saying how many rows are left out; "" if none are."""


@dataclass(frozen=True, slots=True)
class PdfPreview:
    """The first page of a PDF; the others load once it is visible."""

    template: ClassVar[str] = "chat/pdf_preview.html"
    first_href: str = ""
    """The image of the first page; "" if this server can't render it."""
    pages_href: str = ""


FilePreview: TypeAlias = PlainPreview | TablePreview | PdfPreview | JsonTree
Medium = Literal["picture", "audio", "video"]


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file, inline or by reference. Nothing is loaded from other servers."""

    template: ClassVar[str] = "chat/file.html"
    name: str
    mime: str
    size: str = ""
    href: str = ""
    """The URL of the file; "" if a browser can't fetch it."""
    opens: bool = True
    """Whether a browser opens it, and doesn't only download it."""
    show: Medium | None = None
    """How the page shows it, if this server serves the file, after checking its content."""
    preview: FilePreview | None = None
    remote_picture: RemotePicture | None = None
    """A picture on another server, which is loaded when a reader asks for it."""


@dataclass(frozen=True, slots=True)
class TranscriptPart:
    """The transcript of speech."""

    template: ClassVar[str] = "chat/transcript.html"
    word: str
    """`heard` for the user's speech, `spoken` for the model's."""
    text: str


@dataclass(frozen=True, slots=True)
class Source:
    title: str
    href: str
    """A link to the address; "" if it isn't a web address."""
    address: str
    problem: str = ""
    """Why the page couldn't be read; "" if it was, or if the model doesn't say."""


@dataclass(frozen=True, slots=True)
class SourcesPart:
    """The sources of an answer: grounding, citations, pages that were read."""

    template: ClassVar[str] = "chat/sources.html"
    searches: tuple[str, ...]
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class CutPart:
    """A note that the model stopped before the end of its answer."""

    template: ClassVar[str] = "chat/cut.html"
    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class OtherPart:
    """A part of a kind without its own template."""

    template: ClassVar[str] = "chat/other.html"
    name: str
    """Its kind, from its keys: `Tool call`."""
    short: str
    """The beginning of its value on one line."""
    value: JsonTree


SpokenPart: TypeAlias = TextPart | ThoughtPart | CodePart | OutputPart | FilePart
"""The parts that a person reads, without tool calls and results."""

AroundPart: TypeAlias = TranscriptPart | SourcesPart | CutPart | OtherPart
"""What an event says outside the parts of its content."""

ContentPart: TypeAlias = (
    TextPart | ThoughtPart | CallPart | ResponsePart | CodePart | OutputPart | FilePart | AroundPart
)
