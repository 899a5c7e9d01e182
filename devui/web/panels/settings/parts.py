"""The settings of a run, as a form beside the message field."""

from dataclasses import dataclass
from typing import ClassVar, Literal


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting."""

    name: str
    """The field's name, as in the API's JSON."""
    label: str
    kind: Literal["text", "long", "decimal", "whole"] = "text"
    value: str = ""
    own: str = ""
    """The agent's own value, shown while the field is empty."""
    options: tuple[str, ...] = ()
    """Suggested values; others are allowed."""
    error: str = ""

    @property
    def differs(self) -> bool:
        """Whether the run gets a value other than the agent's own."""
        return self.value not in {"", self.own}


@dataclass(frozen=True, slots=True)
class RunSettingsForm:
    """The disclosure in the composer. Goes into `#run-settings`."""

    template: ClassVar[str] = "settings/run_settings.html"
    fields: tuple[Setting, ...] = ()
    is_open: bool = False
    """Whether it is open at first, because of an error in it."""
