"""The settings of a run: to be filled in beside a message, and as it had them."""

from dataclasses import dataclass
from typing import ClassVar, Literal


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing to set."""

    name: str
    """Of the field, as in the API's JSON."""
    label: str
    kind: Literal["text", "long", "decimal", "whole"] = "text"
    value: str = ""
    own: str = ""
    """What the agent has of its own, shown as long as nothing is filled in."""
    options: tuple[str, ...] = ()
    """Values to choose from; others are possible, too."""
    error: str = ""

    @property
    def differs(self) -> bool:
        """Whether the run will have something else than the agent's own."""
        return self.value not in {"", self.own}


@dataclass(frozen=True, slots=True)
class RunSettingsForm:
    """The disclosure in the composer. Goes into `#run-settings`."""

    template: ClassVar[str] = "settings/run_settings.html"
    fields: tuple[Setting, ...] = ()
    is_open: bool = False
    """It opens by itself where something in it is wrong."""
