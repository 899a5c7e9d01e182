"""Forms with which a person answers an agent's questions."""

from dataclasses import dataclass
from typing import ClassVar, Literal

FieldKind = Literal["text", "long", "secret", "number", "whole", "boolean", "choice", "json"]


@dataclass(frozen=True, slots=True)
class QuestionField:
    """One field to fill in."""

    name: str
    label: str
    kind: FieldKind
    value: str = ""
    options: tuple[str, ...] = ()
    """The options of a `choice`."""
    hint: str = ""
    required: bool = False
    error: str = ""
    """The error in what was filled in."""
    type: str = ""
    """`list of str`, if the label is a name in code."""


@dataclass(frozen=True, slots=True)
class QuestionFields:
    """The fields of a form. Goes into `#{slot}-fields`."""

    template: ClassVar[str] = "questions/ask_fields.html"
    slot: str
    fields: tuple[QuestionField, ...]


@dataclass(frozen=True, slots=True)
class QuestionChoice:
    """A button that sends the answer; all of a question's buttons look alike."""

    value: str
    label: str


@dataclass(frozen=True, slots=True)
class Ask:
    """A question that waits for its answer. Goes into the element `slot`."""

    template: ClassVar[str] = "questions/ask.html"
    slot: str
    """DOM id, derived from the call's id."""
    action: str
    event: int
    """The number of the event that asks."""
    call: str
    hint: str
    fields: tuple[QuestionField, ...]
    choices: tuple[QuestionChoice, ...]
    about: str = ""
    """The subject of the decision: a call, a payload."""
    link: str = ""
    """The sign-in page, for a credential by OAuth."""
