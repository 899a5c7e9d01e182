"""Says where to declare attributes, to who derives classes from the runtime's (devui's own)."""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from devui.runtime.left_out import ROOT
from devui.runtime.mistakes import place
from devui.runtime.spelling import near


class Declared(BaseModel):
    """It says what to do where pydantic refuses an attribute that the class does not have."""

    if not TYPE_CHECKING:  # else mypy would take any name for one of an attribute

        def __setattr__(self, name: str, value: Any) -> None:
            try:
                super().__setattr__(name, value)
            except (ValueError, AttributeError) as error:
                if not isinstance(error, ValidationError):
                    _advise(error, type(self), name, value)
                raise


def _advise(error: Exception, owner: type[BaseModel], name: str, value: object) -> None:
    """Nothing of properties, which have reasons of their own."""
    close = near(name, owner.model_fields)
    if name in owner.model_fields:  # it is set before there is anything to put it into
        error.add_note(
            f"Give it to super().__init__({name}=...) in {place(owner)}, or set it after that."
        )
    elif close != ".":
        error.add_note(f"{owner.__name__} has no `{name}`{close}")
    elif not hasattr(owner, name) and not owner.__module__.startswith(f"{ROOT}."):
        error.add_note(
            f"Declare it in {place(owner)}, such as `{name}: {type(value).__name__}`, and give it"
            f" to super().__init__({name}=...). What begins with _ needs no declaration."
        )
