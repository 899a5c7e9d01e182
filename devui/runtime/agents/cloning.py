"""Copies of agents (adk-runtime 5.1)."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, TypeVar

from devui.runtime.agents.agent_tree import adopt

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent

A = TypeVar("A", bound="BaseAgent")


def cloned(agent: A, update: dict[str, Any]) -> A:
    """A copy without parent, some of its fields set to others; see `BaseAgent.clone`."""
    fields = type(agent).model_fields
    unknown = sorted(update.keys() - (fields.keys() - {"parent_agent"}))
    if unknown:
        raise ValueError(f"clone() of {type(agent).__name__} cannot set {unknown}.")
    copied = agent.model_copy(update=update)
    for name in fields.keys() - update.keys() - {"sub_agents"}:
        setattr(copied, name, _rebound(getattr(agent, name), agent, copied))
    if "sub_agents" not in update:
        copied.sub_agents = [sub_agent.clone() for sub_agent in agent.sub_agents]
    copied.__pydantic_fields_set__ = agent.model_fields_set | update.keys()  # not what was rebound
    for sub_agent in copied.sub_agents:
        adopt(copied, sub_agent)
    copied.parent_agent = None
    return copied


def _rebound(value: Any, old: object, new: object) -> Any:
    """`value` for the copy: lists of its own, and its own methods instead of the original's."""
    if isinstance(value, list):
        return [_rebound(item, old, new) for item in value]
    if inspect.ismethod(value) and value.__self__ is old:
        return value.__func__.__get__(new)
    return value
