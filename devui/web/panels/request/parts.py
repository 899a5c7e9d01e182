"""What went to a model or a tool, as a tab of the inspector (dev-uis 4.1, item 5)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from devui.web.basic_parts import Fact, JsonText, JsonTree
from devui.web.panels.chat.content_parts import ContentPart

Difference = Literal["same", "added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class BlockBody:
    """What a block of a request says."""

    template: ClassVar[str] = "request/block_body.html"
    parts: tuple[ContentPart, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """The system instruction, or one message."""

    dom_id: str
    kind: str
    """The role, or `result`."""
    role: str
    """As it is sent: `system`, `user`, `model`, …"""
    place: str
    """`#3` among the messages; "" for the system instruction."""
    preview: str
    size: str
    """`1,204 characters`, and about how many tokens."""
    body: BlockBody | None
    """None for one that is asked for when it is unfolded."""
    href: str = ""
    """Where it is asked for."""
    open: bool = False


@dataclass(frozen=True, slots=True)
class ToolShown:
    """A tool as the model was told of it."""

    dom_id: str
    name: str
    description: str
    size: str
    schema: JsonTree | None


@dataclass(frozen=True, slots=True)
class Share:
    """A block's piece of the bar, in thousandths of its width."""

    kind: str
    x: float
    width: float
    title: str


@dataclass(frozen=True, slots=True)
class OtherCall:
    """A call to compare with."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class DiffForm:
    """Which call to compare with."""

    action: str
    event: int | None
    """The selected one."""
    calls: tuple[OtherCall, ...]
    """The first is none."""


@dataclass(frozen=True, slots=True)
class DiffBlock:
    """Blocks that say the same, or one that does not."""

    kind: Difference
    label: str
    """`12 unchanged messages`, `user #3`."""
    pieces: tuple[tuple[Difference, str], ...] = ()
    breaks: bool = False
    """From here on nothing can come from a provider's cache."""
    note: str = ""
    """Why it is not shown word by word, and such."""


@dataclass(frozen=True, slots=True)
class PromptDiff:
    """What differs from another request."""

    title: str
    """`compared with #3 of planner`."""
    href: str
    """The other call's event; "" if it has none."""
    verdict: str
    """What remains of the prefix that a provider can have in its cache."""
    blocks: tuple[DiffBlock, ...]
    tools: tuple[DiffBlock, ...]
    config: tuple[DiffBlock, ...]


@dataclass(frozen=True, slots=True)
class StreamedPiece:
    """One of them."""

    text: str
    note: str
    """When it came, how long after the one before, and how long it is."""
    x: float


@dataclass(frozen=True, slots=True)
class Streamed:
    """An answer in the pieces that it came in; places are in thousandths of the time."""

    pieces: tuple[StreamedPiece, ...]
    ticks: str
    """The marks as a path."""
    stalls: tuple[tuple[float, float], ...]
    """Where one begins, and how wide it is."""
    summary: str
    differs: bool
    """The whole answer says something else than its pieces."""


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What the model said itself, before callbacks."""

    bodies: tuple[BlockBody, ...]
    """One, unless the model answers several times to one request."""
    difference: DiffBlock | None
    """What its event says instead, if that is something else."""
    by: str = ""
    """Who or what may have changed it, as a sentence."""


@dataclass(frozen=True, slots=True)
class RequestPanel:
    """One call of a model: everything that was sent."""

    template: ClassVar[str] = "request/request_panel.html"
    model: str
    agent: str
    note: str
    """Which request this is."""
    facts: tuple[Fact, ...]
    error: str
    form: DiffForm | None
    """None for a request that is held."""
    diff: PromptDiff | None
    bar: tuple[Share, ...]
    cached: float
    """How much of the bar came from the provider's cache, in thousandths."""
    bar_title: str
    system: Block | None
    messages: tuple[Block, ...]
    tools: tuple[ToolShown, ...]
    config: JsonTree | None
    answer: ModelAnswer | None
    """None if nothing came."""
    streamed: Streamed | None
    raw_href: str = ""
    """"" for a request that isn't recorded yet, like the two addresses below."""
    json_href: str = ""
    again_href: str = ""
    is_newest: bool = False
    """No event is selected: it is another one when the run goes on."""
    trial_note: str = ""
    """How often it was asked again, in words."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """The whole request as JSON."""

    template: ClassVar[str] = "request/raw_request.html"
    text: JsonText


@dataclass(frozen=True, slots=True)
class ToolSent:
    """One call of a tool: what it got and what it gave."""

    name: str
    id: str
    took: str
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
    calls: tuple[ToolSent, ...]
