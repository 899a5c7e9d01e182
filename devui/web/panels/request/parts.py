"""What was sent to a model or a tool, as a tab of the inspector (dev-uis 4.1, item 5)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import Fact, JsonText, JsonTree
from devui.web.panels.chat.content_parts import ContentPart

Difference = Literal["same", "added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class BlockBody:
    """The content of a request's block."""

    template: ClassVar[str] = "request/block_body.html"
    parts: tuple[ContentPart, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """The system instruction, or one message."""

    dom_id: str
    kind: str
    """The role, or `result`."""
    role: str
    """As sent: `system`, `user`, `model`, …"""
    place: str
    """`#3` among the messages; "" for the system instruction."""
    preview: str
    size: str
    """`1,204 chars`, with an estimate of the tokens if known."""
    body: BlockBody | None
    """None for a block that loads when it is unfolded."""
    href: str = ""
    """Where to load it."""
    open: bool = False


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """A tool as declared to the model."""

    dom_id: str
    name: str
    description: str
    size: str
    schema: JsonTree | None


@dataclass(frozen=True, slots=True)
class Share:
    """A block's share of the bar, in thousandths of its width."""

    kind: str
    x: float
    width: float
    title: str


@dataclass(frozen=True, slots=True)
class ShareBar:
    """Each block's share of the prompt."""

    shares: tuple[Share, ...]
    title: str
    kinds: tuple[tuple[str, str], ...] = ()
    """The kinds that occur, with their names."""
    cached: float = 0.0
    """The part of the bar that came from the provider's cache, in thousandths."""
    is_dense: bool = False
    """Whether there are so many shares that the lines between them are thinner."""


@dataclass(frozen=True, slots=True)
class OtherCall:
    """A call to compare with."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class DiffForm:
    """The choice of the call to compare with."""

    action: str
    event: int | None
    """The selected event."""
    calls: tuple[OtherCall, ...]
    """The calls to choose from; the first choice is no call."""


@dataclass(frozen=True, slots=True)
class DiffBlock:
    """Equal blocks in a row, or one that differs."""

    kind: Difference
    label: str
    """`12 unchanged messages`, `user #3`."""
    pieces: tuple[tuple[Difference, str], ...] = ()
    breaks_cache: bool = False
    """Whether nothing from here on can come from a provider's cache."""
    note: str = ""
    """A remark, such as why no words are compared."""


@dataclass(frozen=True, slots=True)
class PromptDiff:
    """The differences from another request."""

    title: str
    """`compared with #3 of planner`."""
    href: str
    """The other call's event; "" if it has none."""
    verdict: str
    """What remains of the prefix that a provider may have in its cache."""
    blocks: tuple[DiffBlock, ...]
    tools: tuple[DiffBlock, ...]
    config: tuple[DiffBlock, ...]


@dataclass(frozen=True, slots=True)
class StreamedPiece:
    """One chunk of a streamed answer."""

    text: str
    note: str
    """When it arrived, how long after the previous one, and its length."""
    x: float


@dataclass(frozen=True, slots=True)
class StreamChart:
    """A streamed answer, chunk by chunk. Positions are in thousandths of its duration."""

    pieces: tuple[StreamedPiece, ...]
    ticks: str
    """The marks, as an SVG path."""
    stalls: tuple[tuple[float, float], ...]
    """The start and the width of each stall."""
    summary: str
    differs: bool
    """Whether the final answer differs from its chunks."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """The model's own answer, before callbacks."""

    bodies: tuple[BlockBody, ...]
    """One, unless the model answered a request several times."""
    difference: DiffBlock | None
    """How its event differs from it; None if it doesn't."""
    by: str = ""
    """Who or what may have changed it, as a sentence."""


@dataclass(frozen=True, slots=True)
class RequestPanel:
    """One model call, with everything that was sent."""

    template: ClassVar[str] = "request/request_panel.html"
    model: str
    agent: str
    note: str
    """Which request this is."""
    facts: tuple[Fact, ...]
    error: str
    form: DiffForm | None
    """None for a held request."""
    diff: PromptDiff | None
    bar: ShareBar
    system: Block | None
    messages: tuple[Block, ...]
    tools: tuple[ToolDeclaration, ...]
    config: JsonTree | None
    answer: ModelAnswer | None
    """None if there was no answer."""
    streamed: StreamChart | None
    raw_href: str = ""
    """"" for a request that isn't recorded yet, as in the two addresses below."""
    json_href: str = ""
    again_href: str = ""
    is_newest: bool = False
    """Whether no event is selected: the panel then changes as the run continues."""
    trial_note: str = ""
    """How often it was sent again, in words."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """The whole request as JSON."""

    template: ClassVar[str] = "request/raw_request.html"
    text: JsonText


@dataclass(frozen=True, slots=True)
class ToolCallItem:
    """One tool call: its arguments and its result."""

    name: str
    id: str
    duration: str
    args: JsonTree | None
    result: JsonTree | None
    error: str
    args_size: str = ""
    """`285 kB · object with 2 keys`; "" for small arguments."""
    result_size: str = ""
    try_href: str = ""


@dataclass(frozen=True, slots=True)
class ToolCallsPanel:
    template: ClassVar[str] = "request/tool_calls_panel.html"
    number: int
    calls: tuple[ToolCallItem, ...]
