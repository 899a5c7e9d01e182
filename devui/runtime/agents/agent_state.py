"""Checkpoints of agents (resume seed; adk-runtime 5.2)."""

from __future__ import annotations

from enum import Enum, EnumMeta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from devui.runtime.mistakes import place

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:  # where pydantic keeps it is its own affair
    ModelMetaclass = type(BaseModel)


class _StateType(ModelMetaclass):
    """Takes `step = WorkflowStep`, as the resume seed writes it, for `step: WorkflowStep`."""

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
    """Base of what an agent records to go on from; its JSON keys stay as they are declared."""

    model_config = ConfigDict(extra="forbid")


def load_state(raw: dict[str, Any], state_type: Any, agent: str) -> Any:
    """The recorded state of the agent of that name, as `state_type`.

    The resume seed passes the enum of its steps in place of the state's class. Then the fields
    come as attributes of a plain object, and values of the enum as its members.

    Raises:
        TypeError: `state_type` is neither.
        pydantic.ValidationError: the record does not fit the class, for example since the agent
            was changed.
    """
    if isinstance(state_type, type) and issubclass(state_type, BaseModel):
        try:
            return state_type.model_validate(raw)
        except ValidationError as error:
            error.add_note(
                f"The checkpoint of agent {agent!r}, {raw!r:.200}, does not fit"
                f" {place(state_type)}, which may have been changed since. Let that class take it,"
                " with defaults for new fields, or begin a new invocation."
            )
            raise
    if not (isinstance(state_type, type) and issubclass(state_type, Enum)):
        raise TypeError(f"An agent's state is a BaseAgentState; {state_type!r} is not.")
    return SimpleNamespace(**{name: _member(state_type, value) for name, value in raw.items()})


def _member(steps: type[Enum], value: Any) -> Any:
    try:
        return steps(value)
    except ValueError:
        return value
