"""Checkpoints of agents (resume seed; adk-runtime 5.2)."""

from enum import Enum
from types import SimpleNamespace
from typing import Any

from pydantic import BaseModel, ConfigDict


class BaseAgentState(BaseModel):
    """Base of what an agent records to go on from; its JSON keys stay as they are declared."""

    model_config = ConfigDict(extra="forbid")


def loaded(raw: dict[str, Any], state_type: Any) -> Any:
    """The recorded state as `state_type`.

    The resume seed passes the enum of its steps in place of the state's class. Then the fields
    come as attributes of a plain object, and values of the enum as its members.

    Raises:
        TypeError: `state_type` is neither.
        pydantic.ValidationError: the record does not fit the class, for example since the agent
            was changed.
    """
    if isinstance(state_type, type) and issubclass(state_type, BaseModel):
        return state_type.model_validate(raw)
    if not (isinstance(state_type, type) and issubclass(state_type, Enum)):
        raise TypeError(f"An agent's state is a BaseAgentState; {state_type!r} is not.")
    return SimpleNamespace(**{name: _member(state_type, value) for name, value in raw.items()})


def _member(steps: type[Enum], value: Any) -> Any:
    try:
        return steps(value)
    except ValueError:
        return value
