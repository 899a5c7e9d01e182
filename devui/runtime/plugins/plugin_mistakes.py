"""Mistakes in plugins, which are code of others: what is said of them (devui's own)."""

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from google.genai import types

from devui.runtime.calling import is_async_callable
from devui.runtime.events.event import Event
from devui.runtime.mistakes import given, not_awaited, place
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.plugins.base_plugin import BasePlugin

logger = logging.getLogger(__name__)

_ANSWERS: Mapping[str, tuple[type, ...]] = {
    "on_user_message_callback": (types.Content,),
    "on_event_callback": (Event,),
    "before_agent_callback": (types.Content, dict),
    "after_agent_callback": (types.Content, dict),
    "before_model_callback": (LlmResponse,),
    "after_model_callback": (LlmResponse,),
    "on_model_error_callback": (LlmResponse,),
}
"""What hooks return to answer; others may return anything. An agent's answer may be a dict too, of
which an Event makes a Content."""
_HOOKS = [name for name in vars(BasePlugin) if name.endswith("_callback")]
_AROUND = {
    "around_agent": "the agent's Events",
    "around_model_call": "LlmResponses",
    "around_tool_call": "",
    "around_summary": "",
}
"""Hooks that stand around a call, and what they yield; some return one result instead."""
_OF_AGENTS = (
    "before_agent_callback",
    "after_agent_callback",
    "before_model_callback",
    "after_model_callback",
)
"""Hooks whose plugin goes on with whatever is false: the agent's own callbacks are asked then."""


def check_plugins(plugins: object) -> None:
    """Refuse a plugin, or another object, in place of a list.

    Raises:
        TypeError: there is nothing to go through.
    """
    if plugins is not None and not isinstance(plugins, Iterable):
        raise TypeError(f"`plugins` is {given(plugins)}; put it into a list.")


def check_plugin(plugin: Any) -> None:
    """Refuse what is no plugin; it need not be a BasePlugin, but has to have a name.

    Raises:
        TypeError: it is a class, or has none.
    """
    try:
        name = plugin.name
    except AttributeError:
        name = None
    if name is not None and not isinstance(plugin, type):
        return
    if isinstance(plugin, BasePlugin):
        raise TypeError(
            f"The plugin of {place(type(plugin))} has no name; call super().__init__(name=...) in"
            " its __init__."
        )
    raise TypeError(
        f"`plugins` holds {given(plugin)}; put plugins there, made by calling their classes."
    )


def check_around(plugin: Any) -> None:
    """Refuse hooks around a call that are of the wrong kind of function.

    Raises:
        TypeError: what gives events or responses does not yield them, or what gives one result
            yields.
    """
    for name, what in _AROUND.items():
        hook = vars(type(plugin)).get(name)
        if what and (inspect.iscoroutinefunction(hook) or inspect.isgeneratorfunction(hook)):
            raise TypeError(
                f"{place(hook)} of plugin {plugin.name!r} must be `async def` and yield {what}."
            )
        if not what and (inspect.isasyncgenfunction(hook) or inspect.isgeneratorfunction(hook)):
            raise TypeError(not_awaited(hook))


def warn_of_names(plugin: Any) -> None:
    """Warn of methods whose names are nearly those of hooks: nobody would call them."""
    for owner in type(plugin).__mro__:
        if owner is BasePlugin:
            return
        for name, method in vars(owner).items():
            if name.startswith("_") or name in _HOOKS or not callable(method):
                continue
            [meant] = get_close_matches(name, _HOOKS, n=1, cutoff=0.85) or [f"{name}_callback"]
            if meant in _HOOKS:
                logger.warning(
                    "Plugin %r: %s is no hook, so nothing calls it; did you mean `%s`?",
                    plugin.name,
                    place(method),
                    meant,
                )


def answered(plugin: str, hook_name: str, hook: Callable[..., Any], result: Any) -> Any:
    """The result of a hook that did not return None.

    Raises:
        TypeError: it is no answer to that hook.
    """
    wanted = _ANSWERS.get(hook_name)
    if wanted is None or isinstance(result, wanted):
        return result
    if not result and hook_name in _OF_AGENTS:
        return None
    raise TypeError(
        f"Plugin {plugin!r} returned {given(result)}: {place(hook)} must return"
        f" {wanted[0].__name__} to answer, or None to go on."
    )


def told(error: Exception, hook: Callable[..., Any], values: Mapping[str, Any]) -> str:
    """What went wrong in a hook, or why it could be neither called nor awaited."""
    own = error.__traceback__
    if not isinstance(error, TypeError) or own is None or own.tb_next is not None:
        return repr(error)  # it comes from inside the hook
    try:
        signature = inspect.signature(hook)
    except ValueError:  # built-ins without a signature
        return repr(error)
    try:
        signature.bind(**values)
    except TypeError:
        return (
            f"{place(hook)} takes {signature}, but is called with {', '.join(values)}. Give it"
            " these parameters."
        )
    if is_async_callable(hook):
        return repr(error)
    return not_awaited(hook)
