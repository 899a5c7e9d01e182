"""Trials as forms: a tool with other arguments, a model with another request."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.basic_parts import Fact, JsonText, JsonTree, Moment
from devui.web.panels.questions.parts import QuestionField
from devui.web.panels.request.parts import Difference
from devui.web.panels.state.parts import StateValue


@dataclass(frozen=True, slots=True)
class ToolTrial:
    """The result of running a tool once."""

    number: int
    moment: Moment
    args: str
    place: str
    """`with the state as of #4`."""
    duration: str
    by: str
    result: JsonText | None
    error: str
    changes: tuple[StateValue, ...]
    """What it would have written to the state."""
    actions: JsonTree | None
    """Its other actions, which would have been carried out in a run."""


@dataclass(frozen=True, slots=True)
class ToolForm:
    """The form that runs a tool on its own. Its element is `#{slot}`."""

    template: ClassVar[str] = "trials/tool_form.html"
    slot: str
    action: str
    tool: str
    place: str
    """The state that it runs with, in words."""
    fields: tuple[QuestionField, ...]
    value: str
    """The arguments as JSON."""
    warning: str
    """Why running it needs a confirmation; "" for a tool that is safe to run again."""
    can_mark: bool = False
    """Whether its effects are unknown and can be set in the form."""
    note: str = ""
    """The error in the arguments, or of the trial."""
    trials: tuple[ToolTrial, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolItem:
    """A tool of an app."""

    name: str
    signature: str
    """`(city: str) -> dict`; "" if it isn't declared."""
    agents: str
    flags: tuple[str, ...]
    """Special behavior of its calls: `long-running`, `asks for confirmation`."""
    summary: str
    """The first line of its description."""
    details: str
    """The other lines."""
    effect: str
    """The effect class that a person has set; "" for none."""
    from_code: str
    """The class that applies otherwise, in words."""
    effect_action: str
    try_href: str


@dataclass(frozen=True, slots=True)
class ToolList:
    """The tools of an app. Goes into `#tools`."""

    template: ClassVar[str] = "trials/tool_list.html"
    tools: tuple[ToolItem, ...]
    note: str = ""
    """Why they can't be listed."""
    silent: tuple[Fact, ...] = ()
    """Toolsets that didn't list their tools, each with its error."""
    again_href: str = ""
    """Where to list them again."""
    unknown: tuple[str, ...] = ()
    """Tools without an effect class."""
    unknown_action: str = ""
    """Where to set a class for all of these; "" for fewer than two."""


@dataclass(frozen=True, slots=True)
class MessageField:
    """A message that consists of one text."""

    name: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """A model's answer to an edited request, beside the recorded answer."""

    number: int
    moment: Moment
    duration: str
    by: str
    request_diff: tuple[tuple[Difference, str], ...]
    """The differences between the requests, in pieces."""
    recorded: str
    answer: str
    pieces: tuple[tuple[Difference, str], ...]
    """The differences between the answers."""
    same: bool
    error: str


@dataclass(frozen=True, slots=True)
class ModelForm:
    """The form that calls a model again. Its element is `#{slot}`."""

    template: ClassVar[str] = "trials/model_form.html"
    slot: str
    action: str
    system: str
    messages: tuple[MessageField, ...]
    rest_note: str
    """How many messages can only be edited as JSON, in words."""
    config: str
    value: str
    """The request as JSON; "" if it is too large for a form."""
    note: str = ""
    trials: tuple[ModelTrial, ...] = ()
