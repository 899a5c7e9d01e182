"""The records of a bundle, with the members that this version knows (R27).

Runs, edits and pieces of requests are named `r1`, `1`, `p1` … in order of first appearance, so that
the same session gives the same file everywhere.
"""

from functools import partial
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from devui.debugger.events.shape import LATEST, ContentShape, EventShape
from devui.store.tags import LONGEST, MOST, tag_name

FORMAT: Final = "devui.session"
VERSION: Final = 1
"""Raised when a reader of the old version would misread a new bundle."""

_LARGEST: Final = 2**63 - 1

Name: TypeAlias = Annotated[str, StringConstraints(min_length=1)]
Label: TypeAlias = Annotated[str, StringConstraints(pattern=r"^r[1-9][0-9]{0,8}$")]
Piece: TypeAlias = Annotated[str, StringConstraints(pattern=r"^p[1-9][0-9]{0,8}$")]
Count: TypeAlias = Annotated[int, Field(ge=0, le=_LARGEST)]
Time: TypeAlias = Annotated[float, Field(ge=0, le=LATEST)]
Seconds: TypeAlias = Annotated[float, Field(ge=-LATEST, le=LATEST)]
Tag: TypeAlias = Annotated[str, AfterValidator(lambda text: tag_name(text[:LONGEST]))]
"""A tag; a redacted one may be longer than it was."""


class Strict(BaseModel):
    """A model without type conversions; unknown members are left to `extras`."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True, allow_inf_nan=False)


def _validate(shape: TypeAdapter[Any], value: Any) -> Any:
    """Return the value unchanged. Raises ValueError if pages couldn't read it."""
    try:
        shape.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    return value


def _of_shape(kind: Any) -> AfterValidator:
    """Return a validator that keeps the value but requires the types that pages read."""
    return AfterValidator(partial(_validate, TypeAdapter(kind)))


class UnfinishedAnswer(Strict):
    """The part of an answer that an agent had streamed without committing an event."""

    author: str
    text: str


class TouchData(Strict):
    """A `StateTouch`."""

    run: str
    number: int
    key: str
    agent: str
    branch: str | None = None
    tool: str | None = None
    call: str | None = None
    role: str = ""
    place: str = ""
    at: float
    old: str | None = None
    value: str | None = None
    paths: list[str] = []
    overlaps: int | None = None
    overwritten: bool = False
    lost: bool = False
    event: str = ""
    reads: int | None = None
    kind: Literal["state_touch"] = "state_touch"


class RequestPieces(Strict):
    """A model request by the names of its pieces."""

    system: str | None = None
    tools: str | None = None
    config: str | None = None
    contents: list[str] = []


_SENT: Final = TypeAdapter(RequestPieces)


class Lineage(Strict):
    """Where a session was forked."""

    id: str | None
    title: str | None
    number: Count
    reason: str
    note: str | None
    invocation: str | None
    created: Time


class Header(Strict):
    """The first line: the session itself."""

    format: Literal["devui.session"]
    version: int
    app: Name
    user: str
    id: Name
    title: str | None
    created: Time
    updated: Time
    forked: list[Lineage]
    """The session it was forked from, that one's parent, and so on."""
    forks: list[Lineage]
    """The forks of this session."""
    tags: Annotated[list[Tag], Field(max_length=MOST)] = []


class Trailer(Strict):
    """The last line: the totals, by which a truncated file is detected."""

    count: Count
    redacted: Count
    """How many texts were redacted, in this export and in earlier ones."""


class Edit(Strict):
    type: Literal["edit"]
    edit: Count
    run: Label
    gate: str
    agent: str
    tool: str | None
    call: str | None
    event: str | None
    action: str
    actor: str
    at: Time
    turn: Count | None = None
    before: Any
    after: Any


class Chunk(Strict):
    type: Literal["chunk"]
    event: Name
    run: Label | None
    data: dict[str, Any]


class Write(Strict):
    type: Literal["write"]
    scope: Literal["session", "user", "app"]
    key: str
    value: Any


class Start(Strict):
    type: Literal["start"]
    state: dict[str, Any]


class Artifact(Strict):
    type: Literal["artifact"]
    name: Name
    version: Count
    mime: str | None
    metadata: dict[str, Any] | None
    created: Time
    text: str | None = None
    data: str | None = None
    """Base64."""


class Event(Strict):
    type: Literal["event"]
    number: Count
    run: Label | None
    final: bool
    event: dict[str, Any]
    paused: Seconds = 0.0
    """How long the debugger held the run since the previous event, in seconds; negative if that one
    was produced later."""


class Run(Strict):
    type: Literal["run"]
    run: Label
    invocation: str | None
    status: Literal["done", "failed", "stopped", "interrupted"]
    error: dict[str, Any] | None
    started: Time
    ended: Time
    message: Any
    unfinished: Annotated[Any, _of_shape(list[UnfinishedAnswer] | None)]
    closed: bool
    held: Any
    """Where the debugger last held it."""
    paused: Time = 0.0
    """How long it was held in total, in seconds."""


class Output(Strict):
    type: Literal["output"]
    run: Label
    lines: list[Annotated[list[str | float], Field(min_length=3, max_length=3)]]
    """The stream, text and time of each line."""


class Touch(Strict):
    type: Literal["touch"]
    run: Label
    number: Count
    event: str | None
    flagged: str | None
    data: Annotated[dict[str, Any], _of_shape(TouchData)]


class DroppedEdit(Strict):
    type: Literal["dropped"]
    edit: Count


class PieceOf(Strict):
    type: Literal["piece"]
    name: Piece
    data: Any


class Span(Strict):
    type: Literal["span"]
    run: Label
    number: Count
    parent: Count | None
    kind: Literal["agent", "model", "tool"]
    name: str
    agent: str
    branch: str | None
    call: str | None
    event: Count | None
    began: Time
    seconds: Seconds | None
    first: Seconds | None
    error: str | None
    sent: Any
    result: Any
    effects: Any = None

    @model_validator(mode="after")
    def _asks_in_pieces(self) -> Self:
        if self.kind == "model" and isinstance(self.sent, dict):
            _validate(_SENT, self.sent)
        return self


class Note(Strict):
    type: Literal["note"]
    number: Count
    text: str
    starred: bool
    actor: str
    at: Time


Record: TypeAlias = Annotated[
    Edit
    | Chunk
    | Write
    | Start
    | Artifact
    | Event
    | Run
    | Output
    | Touch
    | DroppedEdit
    | PieceOf
    | Span
    | Note,
    Field(discriminator="type"),
]

RECORD: Final[TypeAdapter[Any]] = TypeAdapter(Record)
EVENT: Final = TypeAdapter(EventShape[ContentShape])
"""A part may have members that this version doesn't know: workers may have a newer google-genai."""
HEADER: Final = TypeAdapter(Header)
TRAILER: Final = TypeAdapter(Trailer)
