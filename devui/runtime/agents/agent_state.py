"""Checkpoints of agents (resume seed; adk-runtime 5.2)."""

from __future__ import annotations

from enum import Enum, EnumMeta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from devui.runtime.mistakes import place

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:  # its module is private to pydantic
    ModelMetaclass = type(BaseModel)


class _StateType(ModelMetaclass):
    """Accepts `step = WorkflowStep`, as the resume seed writes it, as `step: WorkflowStep`."""

    def __new__(cls, name: str, bases: Any, namespace: dict[str, Any], **options: Any) -> type:
        within = f"{namespace.get('__qualname__', name)}."
        fields = {
            key: value
            for key, value in namespace.items()
            if isinstance(value, EnumMeta) and not value.__qualname__.startswith(within)
        }
        if fields:
            namespace = {key: value for key, value in namespace.items() if key not in fields}
            namespace["__annotations__"] = {**namespace.get("__annotations__", {}), **fields}
        return super().__new__(cls, name, bases, namespace, **options)


class BaseAgentState(BaseModel, metaclass=_StateType):
    """The base class of checkpoints; their JSON keys are the names of the fields."""

    model_config = ConfigDict(extra="forbid")


def load_state(raw: dict[str, Any], state_type: Any, agent: str) -> Any:
    """Return the recorded state of the agent of that name, as `state_type`.

    The resume seed passes the enum of its steps instead of a state class. In that case, the fields
    are attributes of a plain object, and values of the enum are its members.

    Raises:
        TypeError: `state_type` is neither.
        pydantic.ValidationError: the record does not fit the class, for example because the agent
        was changed.
    """
    if isinstance(state_type, type) and issubclass(state_type, BaseModel):
        try:
            return state_type.model_validate(raw)
        except ValidationError as error:
            error.add_note(
                f"The checkpoint of agent {agent!r}, {raw!r:.200}, does not fit"
                f" {place(state_type)}, which may have changed since. Make that class accept it,"
                " with defaults for new fields, or start a new invocation."
            )
            raise
    if not (isinstance(state_type, type) and issubclass(state_type, Enum)):
        raise TypeError(f"An agent's state must be a BaseAgentState; {state_type!r} is not.")
    return SimpleNamespace(**{name: _member(state_type, value) for name, value in raw.items()})


def _member(steps: type[Enum], value: Any) -> Any:
    try:
        return steps(value)
    except ValueError:
        return value
