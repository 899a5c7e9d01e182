"""Asks the user before running a tool that requires confirmation (adk-runtime 8.5)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from devui.runtime.calling import call
from devui.runtime.mistakes import brief, note_on_await, place
from devui.runtime.tools.argument_converters import ArgumentError
from devui.runtime.tools.function_signature import FunctionSignature, bind, convert

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.tools.base_tool import BaseTool

logger = logging.getLogger(__name__)


def requirement(required: Any) -> bool | Callable[..., Any]:
    """Return a function unchanged, and any other value as a bool.

    Raises:
        TypeError: it is a string, since "no" would mean yes.
    """
    if isinstance(required, str):
        raise TypeError(
            f"`require_confirmation` is {brief(required)}; pass True, False, or a function of the"
            " tool's arguments that returns one."
        )
    return required if callable(required) else bool(required)


async def is_required(
    required: bool | Callable[..., Any],
    args: dict[str, Any],
    tool_context: Context,
    typed_arguments: Mapping[str, Any] = MappingProxyType({}),
) -> bool:
    """Return whether a call needs confirmation; a function decides, given the arguments it takes.

    It gets each argument in the type of its own annotation; without one, in the tool's type from
    `typed_arguments`. A call whose arguments it can't take needs confirmation.
    """
    if not callable(required):
        return bool(required)
    signature = FunctionSignature.of(required)
    if missing := [name for name in signature.mandatory if name not in args]:
        raise TypeError(
            f"The `require_confirmation` function {place(required)} needs {', '.join(missing)}, not"
            f" among the arguments of this call ({', '.join(args) or 'none'}). Use parameters of"
            " the tool, with defaults where the tool has them."
        )
    values = {
        name: value if name in signature.converters else typed_arguments.get(name, value)
        for name, value in args.items()
    }
    try:
        positional, keywords = bind(signature, convert(signature, values), tool_context)
    except ArgumentError as error:
        logger.warning("Asking the user, because %s can't be called: %s", place(required), error)
        return True
    if signature.takes_any:
        keywords |= {name: values[name] for name in values.keys() - signature.parameters.keys()}
    return bool(await call(required, *positional, **keywords))


async def withheld(
    tool: BaseTool, args: dict[str, Any], tool_context: Context
) -> dict[str, Any] | None:
    """Return what to answer instead of running the tool; None if it may run.

    Every call passes through here before the tool runs. Tools with a `require_confirmation` check
    again in their `run_async`, because other tools may call that.
    """
    try:
        is_asked = await tool.check_require_confirmation(args, tool_context)
    except TypeError as error:
        note_on_await(error, tool.check_require_confirmation)
        raise
    if not is_asked:
        return None
    decision = tool_context.tool_confirmation
    if decision is None:
        tool_context.request_confirmation(
            hint=f"Answer with a ToolConfirmation whether {tool.name}() may be called."
        )
        tool_context.actions.skip_summarization = True
        return {"error": f"{tool.name}() waits for the user's confirmation."}
    return None if decision.confirmed else {"error": "This tool call is rejected."}
