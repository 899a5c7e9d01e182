"""One call by itself, as forms: a tool with other arguments, a model with another request."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.basic_parts import Fact, JsonText, JsonTree, Moment
from devui.web.panels.questions.parts import AskField
from devui.web.panels.request.parts import Difference
from devui.web.panels.state.parts import StateValue


@dataclass(frozen=True, slots=True)
class ToolTrial:
    """What came of one call of a tool."""

    number: int
    moment: Moment
    args: str
    place: str
    """`over the state as of #4`."""
    took: str
    by: str
    result: JsonText | None
    error: str
    changes: tuple[StateValue, ...]
    """What it would have written to the state."""
    actions: JsonTree | None
    """What else it would have done."""


@dataclass(frozen=True, slots=True)
class ToolForm:
    """Runs a tool by itself. Its element is `#{slot}`."""

    template: ClassVar[str] = "trials/tool_form.html"
    slot: str
    action: str
    tool: str
    place: str
    """Which state it finds."""
    fields: tuple[AskField, ...]
    value: str
    """The arguments as JSON."""
    warning: str
    """Why somebody has to be sure; "" for a tool that changes nothing twice."""
    note: str = ""
    """What is wrong with what was said."""
    trials: tuple[ToolTrial, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolItem:
    """A tool of an app."""

    name: str
    signature: str
    """`(city: str) -> dict`; "" if it declares none."""
    agents: str
    flags: tuple[str, ...]
    """What its calls wait for: `long-running`."""
    summary: str
    """The first line of its description."""
    details: str
    """The others."""
    effect: str
    """What a person has said of it; "" if nobody has."""
    from_code: str
    """What counts while nobody has."""
    effect_action: str
    try_href: str


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools of an app. Goes into `#tools`."""

    template: ClassVar[str] = "trials/tool_list.html"
    tools: tuple[ToolItem, ...]
    note: str = ""
    """Why they cannot be told."""
    silent: tuple[Fact, ...] = ()
    """Toolsets whose tools are not known, each with its error."""
    again_href: str = ""
    """Where they are asked again."""


@dataclass(frozen=True, slots=True)
class MessageField:
    """A message that says one text."""

    name: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """What a model answered to another request, beside what it had answered."""

    number: int
    moment: Moment
    took: str
    by: str
    request_diff: tuple[tuple[Difference, str], ...]
    """What of the request was different, in pieces."""
    recorded: str
    answer: str
    pieces: tuple[tuple[Difference, str], ...]
    """The answers compared."""
    same: bool
    error: str


@dataclass(frozen=True, slots=True)
class ModelForm:
    """Asks a model once more. Its element is `#{slot}`."""

    template: ClassVar[str] = "trials/model_form.html"
    slot: str
    action: str
    system: str
    messages: tuple[MessageField, ...]
    rest_note: str
    """How many messages are to be changed as JSON alone, in words."""
    config: str
    value: str
    """The request as JSON; "" where it is too large for a form."""
    note: str = ""
    trials: tuple[ModelTrial, ...] = ()
