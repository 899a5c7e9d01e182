"""From the arguments a model wrote to those a function takes (adk-runtime 8.2)."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from devui.runtime.tools.function_signature import FunctionSignature

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


def convert(signature: FunctionSignature, args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that the function knows, in the types it asks for; the others are dropped.

    Known are also the names of a `*` and a `**` parameter, where there is the latter (as in ADK).
    """
    converters = signature.converters
    return {
        name: converters[name](name, value) if name in converters else value
        for name, value in args.items()
        if name in signature.parameters or name in signature.collecting
    }


def bound(
    signature: FunctionSignature, args: dict[str, Any], tool_context: Context
) -> tuple[list[Any], dict[str, Any]]:
    """What the function is called with, by position and by name."""
    named = convert(signature, args)
    if signature.context:
        named[signature.context] = tool_context
    return _take_positional(signature, named), named


def _take_positional(signature: FunctionSignature, named: dict[str, Any]) -> list[Any]:
    """Move the arguments of positional-only parameters out of `named`, in order."""
    positional = []
    for name, parameter in signature.by_position.items():
        value = named.pop(name, parameter.default)
        if value is inspect.Parameter.empty:
            break  # the function says itself that it misses one
        positional.append(value)
    return positional
