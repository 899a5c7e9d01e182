"""The parts of an event's content, as the inspector and the chat show them."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from devui.web.parts.json import JsonTree


@dataclass(frozen=True, slots=True)
class TextPart:
    template: ClassVar[str] = "parts/content/text.html"
    text: str
    markdown: bool = False
    """Whether the text was written as markdown; people's own messages are shown as typed."""


@dataclass(frozen=True, slots=True)
class ThoughtPart:
    template: ClassVar[str] = "parts/content/thought.html"
    text: str
    open: bool = False


@dataclass(frozen=True, slots=True)
class CallPart:
    template: ClassVar[str] = "parts/content/call.html"
    name: str
    id: str
    args: JsonTree
    long_running: bool = False
    try_href: str = ""
    """Where the tool is run by itself; "" for what is no tool of the app's."""


@dataclass(frozen=True, slots=True)
class ResponsePart:
    template: ClassVar[str] = "parts/content/response.html"
    name: str
    id: str
    value: JsonTree
    failed: bool = False


@dataclass(frozen=True, slots=True)
class CodePart:
    template: ClassVar[str] = "parts/content/code.html"
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class OutputPart:
    """What executed code printed."""

    template: ClassVar[str] = "parts/content/output.html"
    outcome: str
    output: str


@dataclass(frozen=True, slots=True)
class FilePart:
    """Bytes or a reference to them; never loaded by the page itself."""

    template: ClassVar[str] = "parts/content/file.html"
    name: str
    mime: str
    size: str = ""


@dataclass(frozen=True, slots=True)
class OtherPart:
    """A part of a kind that has no view of its own."""

    template: ClassVar[str] = "parts/content/other.html"
    value: JsonTree


SpokenPart: TypeAlias = TextPart | ThoughtPart | CodePart | OutputPart | FilePart
"""What a person reads, without the calls and results of tools."""

ContentPart: TypeAlias = (
    TextPart | ThoughtPart | CallPart | ResponsePart | CodePart | OutputPart | FilePart | OtherPart
)
