"""`PluginManager`: runs the hooks of an app's plugins in order (adk-runtime 10.4)."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.calling import is_async_callable
from devui.runtime.closing import take_all
from devui.runtime.events.event import Event
from devui.runtime.mistakes import brief, not_awaited, place
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.models.llm_request import LlmRequest
    from devui.runtime.tools.base_tool import BaseTool


# Checks for mistakes in plugins, which are user code.


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
"""The types of a hook's answer; other hooks may return anything. An agent's answer may also be a
dict, which an Event converts to a Content."""
_HOOKS = [name for name in vars(BasePlugin) if name.endswith("_callback")]
_AROUND = {
    "around_agent": "the agent's Events",
    "around_model_call": "LlmResponses",
    "around_tool_call": "",
    "around_summary": "",
}
"""Hooks around a call and what they yield; empty for those that return one result instead."""
_OF_AGENTS = (
    "before_agent_callback",
    "after_agent_callback",
    "before_model_callback",
    "after_model_callback",
)
"""Hooks whose falsy results aren't answers: the agent's own callbacks are called next."""


def check_plugins(plugins: object) -> None:
    """Check that `plugins` is a list, and not a single plugin.

    Raises:
        TypeError: `plugins` isn't iterable.
    """
    if plugins is not None and not isinstance(plugins, Iterable):
        raise TypeError(f"`plugins` is {brief(plugins)}; pass a list of plugins.")


def check_plugin(plugin: Any) -> None:
    """Check that an object is a plugin: it needs a name, but need not be a BasePlugin.

    Raises:
        TypeError: the object is a class, or has no name.
    """
    try:
        name = plugin.name
    except AttributeError:
        name = None
    if name is not None and not isinstance(plugin, type):
        return
    if isinstance(plugin, BasePlugin):
        raise TypeError(
            f"Plugin {place(type(plugin))} has no name; call super().__init__(name=...) in"
            " its __init__."
        )
    raise TypeError(f"`plugins` contains {brief(plugin)}; pass instances of plugin classes.")


def check_around(plugin: Any) -> None:
    """Check that the hooks around calls are the right kinds of functions.

    Raises:
        TypeError: a hook for events or responses isn't an async generator, or one for a single
            result yields.
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
    """Warn about methods with names that resemble those of hooks: nothing would call them."""
    for owner in type(plugin).__mro__:
        if owner is BasePlugin:
            return
        for name, method in vars(owner).items():
            if name.startswith("_") or name in _HOOKS or not callable(method):
                continue
            [suggestion] = get_close_matches(name, _HOOKS, n=1, cutoff=0.85) or [f"{name}_callback"]
            if suggestion in _HOOKS:
                logger.warning(
                    "Plugin %r: %s is not a hook, so nothing calls it; did you mean `%s`?",
                    plugin.name,
                    place(method),
                    suggestion,
                )


def check_answer(plugin: str, hook_name: str, hook: Callable[..., Any], result: Any) -> Any:
    """Return a hook's result, or None if it isn't an answer.

    Raises:
        TypeError: the result has the wrong type for that hook.
    """
    answer_types = _ANSWERS.get(hook_name)
    if answer_types is None or isinstance(result, answer_types):
        return result
    if not result and hook_name in _OF_AGENTS:
        return None
    raise TypeError(
        f"Plugin {plugin!r} returned {brief(result)}: {place(hook)} must return"
        f" {answer_types[0].__name__} to answer, or None to continue."
    )


def problem_text(error: Exception, hook: Callable[..., Any], values: Mapping[str, Any]) -> str:
    """Describe an error in a hook, or why the hook couldn't be called or awaited."""
    own = error.__traceback__
    if not isinstance(error, TypeError) or own is None or own.tb_next is not None:
        return repr(error)  # raised inside the hook
    try:
        signature = inspect.signature(hook)
    except ValueError:  # built-ins without a signature
        return repr(error)
    try:
        signature.bind(**values)
    except TypeError:
        return (
            f"{place(hook)} takes {signature}, but is called with {', '.join(values)}. Add"
            " these parameters."
        )
    if is_async_callable(hook):
        return repr(error)
    return not_awaited(hook)


_Hook = Callable[..., Any]


class _Hooks(dict[str, list[tuple[BasePlugin, _Hook]]]):
    """The plugins that have a hook, by its name; looked up on first use and after `clear()`."""

    def __init__(self, manager: PluginManager) -> None:
        self._manager = manager
        self._plugins: list[BasePlugin] = []
        self._disabled: frozenset[str] = frozenset()

    def disable(self, names: frozenset[str]) -> None:
        """Leave out the plugins with these names, and only these."""
        if names != self._disabled:
            self._disabled = names
            self.clear()

    def follow(self) -> None:
        """Look up all hooks again if the list of plugins, which anybody may change, has changed."""
        if self._plugins != self._manager.plugins:
            self._plugins = [*self._manager.plugins]
            self.clear()

    def __missing__(self, name: str) -> list[tuple[BasePlugin, _Hook]]:
        base_hook = getattr(BasePlugin, name)
        plugins = self._manager.plugins
        enabled = [plugin for plugin in plugins if plugin.name not in self._disabled]
        hooks = [(plugin, getattr(plugin, name)) for plugin in enabled]
        self[name] = having = [(p, h) for p, h in hooks if not _is(h, base_hook)]
        return having


class PluginManager:
    """Calls the hooks of all plugins in the order of registration.

    The plugins that have a hook are looked up once, and again at the start of a run if `plugins`
    was changed in place; an unused hook costs only a dictionary access.

    An exception in a hook becomes a RuntimeError that names the plugin and the hook; exceptions in
    hooks that only get notified of an error are logged.
    """

    def __init__(
        self, plugins: Iterable[BasePlugin] | None = None, close_timeout: float = 5.0
    ) -> None:
        """Register `plugins`; each of them has `close_timeout` seconds to close."""
        self.plugins: list[BasePlugin] = []
        self._close_timeout = close_timeout
        self._skip_closing = False
        self._hooks = _Hooks(self)
        check_plugins(plugins)
        for plugin in plugins or ():
            self.register_plugin(plugin)

    def register_plugin(self, plugin: BasePlugin) -> None:
        """Add a plugin.

        Raises ValueError if its name is taken, and TypeError if it isn't a valid plugin.
        """
        check_plugin(plugin)
        if self.get_plugin(plugin.name) is not None:
            raise ValueError(f"Plugin {plugin.name!r} is already registered; names must be unique.")
        check_around(plugin)
        warn_of_names(plugin)
        self.plugins.append(plugin)
        self._hooks.follow()

    def get_plugin(self, plugin_name: str) -> BasePlugin | None:
        """Return the plugin with that name, or None."""
        return next((plugin for plugin in self.plugins if plugin.name == plugin_name), None)

    def set_disabled(self, names: Iterable[str]) -> None:
        """Skip the hooks of the plugins with these names, and call all others, until the next call.

        This is for plugins that watch the calls of a run but have nothing to watch for at present
        (law 6 of docs/architecture.md): even a hook that returns immediately costs about a
        microsecond, at each chunk and each tool.
        """
        self._hooks.disable(frozenset(names))

    def has(self, hook_name: str, agent: BaseAgent | None = None) -> bool:
        """Return whether the agent, or a plugin that isn't skipped, has the hook.

        An agent's hook is the field with its callbacks, such as `before_model_callback`.
        """
        if self._hooks[hook_name]:
            return True
        return agent is not None and getattr(agent, hook_name) is not None

    def set_skip_closing_plugins(self, value: bool) -> None:
        """Set whether `close()` leaves the plugins open because they belong to another Runner."""
        self._skip_closing = value

    def run_on_user_message_callback(
        self, *, user_message: types.Content, invocation_context: InvocationContext
    ) -> Awaitable[types.Content | None]:
        """Return the first plugin's message that replaces the user's, if any."""
        self._hooks.follow()
        return self._first(
            "on_user_message_callback",
            user_message=user_message,
            invocation_context=invocation_context,
        )

    def run_before_run_callback(
        self, *, invocation_context: InvocationContext
    ) -> Awaitable[types.Content | None]:
        """Return the first plugin's content that makes the run unnecessary, if any."""
        self._hooks.follow()
        return self._first("before_run_callback", invocation_context=invocation_context)

    def run_after_run_callback(self, *, invocation_context: InvocationContext) -> Awaitable[None]:
        """Notify the plugins of the end of the run."""
        return self._first("after_run_callback", invocation_context=invocation_context)

    def run_on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Awaitable[Event | None]:
        """Return the first plugin's event that replaces an event, if any."""
        return self._first("on_event_callback", invocation_context=invocation_context, event=event)

    def run_before_agent_callback(
        self, *, agent: BaseAgent, callback_context: Context
    ) -> Awaitable[types.Content | None]:
        """Return the first plugin's content that makes the agent unnecessary, if any."""
        return self._first("before_agent_callback", agent=agent, callback_context=callback_context)

    def run_after_agent_callback(
        self, *, agent: BaseAgent, callback_context: Context
    ) -> Awaitable[types.Content | None]:
        """Return the first plugin's content to add after an agent, if any."""
        return self._first("after_agent_callback", agent=agent, callback_context=callback_context)

    def run_before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> Awaitable[LlmResponse | None]:
        """Return the first plugin's response that makes a model call unnecessary, if any."""
        return self._first(
            "before_model_callback", callback_context=callback_context, llm_request=llm_request
        )

    def run_after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> Awaitable[LlmResponse | None]:
        """Return the first plugin's response that replaces a model's, if any."""
        return self._first(
            "after_model_callback", callback_context=callback_context, llm_response=llm_response
        )

    def run_on_model_error_callback(
        self, *, callback_context: Context, llm_request: LlmRequest, error: Exception
    ) -> Awaitable[LlmResponse | None]:
        """Return the first plugin's response that replaces a model's exception, if any."""
        return self._first(
            "on_model_error_callback",
            callback_context=callback_context,
            llm_request=llm_request,
            error=error,
        )

    def run_before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> Awaitable[dict[str, Any] | None]:
        """Return the first plugin's result that makes a tool call unnecessary, if any."""
        return self._first(
            "before_tool_callback", tool=tool, tool_args=tool_args, tool_context=tool_context
        )

    def run_after_tool_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        result: dict[str, Any],
    ) -> Awaitable[dict[str, Any] | None]:
        """Return the first plugin's result that replaces a tool's, if any."""
        return self._first(
            "after_tool_callback",
            tool=tool,
            tool_args=tool_args,
            tool_context=tool_context,
            result=result,
        )

    def run_on_tool_error_callback(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        error: Exception,
    ) -> Awaitable[dict[str, Any] | None]:
        """Return the first plugin's result that replaces a tool's exception, if any."""
        return self._first(
            "on_tool_error_callback",
            tool=tool,
            tool_args=tool_args,
            tool_context=tool_context,
            error=error,
        )

    async def run_on_tool_cancelled(
        self,
        *,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        error: BaseException,
    ) -> None:
        """Call `on_tool_error_callback` of all plugins with the CancelledError of a tool."""
        await self._tell_all(
            "on_tool_error_callback",
            tool=tool,
            tool_args=tool_args,
            tool_context=tool_context,
            error=error,
        )

    async def run_on_agent_error_callback(
        self, *, agent: BaseAgent, callback_context: Context, error: Exception
    ) -> None:
        """Notify the plugins of an exception that leaves an agent."""
        await self._tell_all(
            "on_agent_error_callback", agent=agent, callback_context=callback_context, error=error
        )

    async def run_on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Notify the plugins of an exception that ends the run."""
        await self._tell_all(
            "on_run_error_callback", invocation_context=invocation_context, error=error
        )

    def around_agent(
        self,
        agent: BaseAgent,
        invocation_context: InvocationContext,
        proceed: Callable[[], AsyncGenerator[Event, None]],
    ) -> AsyncGenerator[Event, None]:
        """Return the agent's events, passed through each plugin's hook; the first is outermost."""
        for _, hook in reversed(self._hooks["around_agent"]):
            proceed = partial(
                hook, agent=agent, invocation_context=invocation_context, proceed=proceed
            )
        return proceed()

    def around_model_call(
        self,
        callback_context: Context,
        llm_request: LlmRequest,
        proceed: Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]],
        *,
        stream: bool,
    ) -> AsyncGenerator[LlmResponse, None]:
        """Return the model's responses, passed through each plugin's hook."""
        for _, hook in reversed(self._hooks["around_model_call"]):
            proceed = _around_model(hook, callback_context, stream, proceed)
        return proceed(llm_request)

    def around_tool_call(
        self,
        tool: BaseTool,
        tool_args: dict[str, Any],
        tool_context: Context,
        proceed: Callable[[], Awaitable[Any]],
    ) -> Awaitable[Any]:
        """Return the tool's result, passed through each plugin's hook."""
        for _, hook in reversed(self._hooks["around_tool_call"]):
            proceed = partial(
                hook, tool=tool, tool_args=tool_args, tool_context=tool_context, proceed=proceed
            )
        return proceed()

    def around_summary(
        self, events: list[Event], proceed: Callable[[], Awaitable[Event | None]]
    ) -> Awaitable[Event | None]:
        """Return the summary of the events, passed through each plugin's hook."""
        for _, hook in reversed(self._hooks["around_summary"]):
            proceed = partial(hook, events=events, proceed=proceed)
        return proceed()

    async def close(self) -> None:
        """Close all plugins, one after another. Raises RuntimeError if any failed."""
        if self._skip_closing:
            return
        failures: dict[str, str] = {}
        await take_all([partial(self._close, plugin, failures) for plugin in self.plugins])
        if failures:
            listing = ", ".join(f"{name!r} ({why})" for name, why in failures.items())
            raise RuntimeError(f"These plugins failed to close: {listing}")

    async def _close(self, plugin: BasePlugin, failures: dict[str, str]) -> None:
        try:
            async with asyncio.timeout(self._close_timeout):
                await plugin.close()
        except Exception as error:  # noqa: BLE001  users' code
            failures[plugin.name] = problem_text(error, plugin.close, {})

    def _first(self, hook_name: str, **values: Any) -> Awaitable[Any]:
        having = self._hooks[hook_name]
        return _first_result(having, hook_name, values) if having else _NOTHING

    async def _tell_all(self, hook_name: str, **values: Any) -> None:
        for plugin, hook in self._hooks[hook_name]:
            try:
                await hook(**values)
            except Exception as error:
                why = problem_text(error, hook, values)
                logger.exception("Plugin %r raised in %s: %s", plugin.name, hook_name, why)


class _Nothing:
    """The result of a hook that no plugin has: most hooks, many times in each turn."""

    def __await__(self) -> Generator[Any, None, None]:
        # `await` needs only an iterator, and creating a generator costs three times as much.
        return iter(())  # type: ignore[return-value]  # typing asks for a generator


_NOTHING = _Nothing()


async def _first_result(
    having: list[tuple[BasePlugin, _Hook]], hook_name: str, values: dict[str, Any]
) -> Any:
    for plugin, hook in having:
        try:
            result = await hook(**values)
        except Exception as error:
            raise RuntimeError(
                f"Plugin {plugin.name!r} raised in {hook_name}: {problem_text(error, hook, values)}"
            ) from error
        if result is not None:
            return check_answer(plugin.name, hook_name, hook, result)
    return None


def _around_model(
    hook: _Hook,
    context: Context,
    stream: bool,
    proceed: Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]],
) -> Callable[[LlmRequest], AsyncGenerator[LlmResponse, None]]:
    def ask(llm_request: LlmRequest) -> AsyncGenerator[LlmResponse, None]:
        answers: AsyncGenerator[LlmResponse, None] = hook(
            callback_context=context, llm_request=llm_request, stream=stream, proceed=proceed
        )
        return answers

    return ask


def _is(hook: _Hook, function: _Hook) -> bool:
    return inspect.ismethod(hook) and hook.__func__ is function
