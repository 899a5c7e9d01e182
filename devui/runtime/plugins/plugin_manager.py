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


# Mistakes in plugins, which are code of others: what is said of them.


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
        raise TypeError(f"`plugins` is {brief(plugins)}; put it into a list.")


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
        f"`plugins` holds {brief(plugin)}; put plugins there, made by calling their classes."
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
            [suggestion] = get_close_matches(name, _HOOKS, n=1, cutoff=0.85) or [f"{name}_callback"]
            if suggestion in _HOOKS:
                logger.warning(
                    "Plugin %r: %s is no hook, so nothing calls it; did you mean `%s`?",
                    plugin.name,
                    place(method),
                    suggestion,
                )


def check_answer(plugin: str, hook_name: str, hook: Callable[..., Any], result: Any) -> Any:
    """The result of a hook that did not return None.

    Raises:
        TypeError: it is no answer to that hook.
    """
    answer_types = _ANSWERS.get(hook_name)
    if answer_types is None or isinstance(result, answer_types):
        return result
    if not result and hook_name in _OF_AGENTS:
        return None
    raise TypeError(
        f"Plugin {plugin!r} returned {brief(result)}: {place(hook)} must return"
        f" {answer_types[0].__name__} to answer, or None to go on."
    )


def problem_text(error: Exception, hook: Callable[..., Any], values: Mapping[str, Any]) -> str:
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


_Hook = Callable[..., Any]


class _Hooks(dict[str, list[tuple[BasePlugin, _Hook]]]):
    """Which plugins have a hook, by its name; found out when it is asked for, until `clear()`."""

    def __init__(self, manager: PluginManager) -> None:
        self._manager = manager
        self._plugins: list[BasePlugin] = []
        self._resting: frozenset[str] = frozenset()

    def rest(self, names: frozenset[str]) -> None:
        """Leave out the plugins of these names, and no others."""
        if names != self._resting:
            self._resting = names
            self.clear()

    def follow(self) -> None:
        """Find out anew if the plugins, a list that anybody may change, are no longer the same."""
        if self._plugins != self._manager.plugins:
            self._plugins = [*self._manager.plugins]
            self.clear()

    def __missing__(self, name: str) -> list[tuple[BasePlugin, _Hook]]:
        base_hook = getattr(BasePlugin, name)
        plugins = self._manager.plugins
        awake = [plugin for plugin in plugins if plugin.name not in self._resting]
        hooks = [(plugin, getattr(plugin, name)) for plugin in awake]
        self[name] = having = [(p, h) for p, h in hooks if not _is(h, base_hook)]
        return having


class PluginManager:
    """Calls the hooks of all plugins in the order of registration.

    Which plugins have a hook is determined once, so an unused hook costs a look-up, and again at
    the start of a run if `plugins` was changed in place.

    An exception in a hook becomes a RuntimeError that names the plugin and the hook; in hooks that
    are only notified of an error, it is logged.
    """

    def __init__(
        self, plugins: Iterable[BasePlugin] | None = None, close_timeout: float = 5.0
    ) -> None:
        """Register `plugins`; `close_timeout` (seconds) is what each has for closing."""
        self.plugins: list[BasePlugin] = []
        self._close_timeout = close_timeout
        self._skip_closing = False
        self._hooks = _Hooks(self)
        check_plugins(plugins)
        for plugin in plugins or ():
            self.register_plugin(plugin)

    def register_plugin(self, plugin: BasePlugin) -> None:
        """Add a plugin; ValueError if its name is taken, TypeError if it is none."""
        check_plugin(plugin)
        if self.get_plugin(plugin.name) is not None:
            raise ValueError(f"Plugin {plugin.name!r} is registered already; names are unique.")
        check_around(plugin)
        warn_of_names(plugin)
        self.plugins.append(plugin)
        self._hooks.follow()

    def get_plugin(self, plugin_name: str) -> BasePlugin | None:
        """The plugin of that name, or None."""
        return next((plugin for plugin in self.plugins if plugin.name == plugin_name), None)

    def let_rest(self, resting: Iterable[str]) -> None:
        """Call no hooks of the plugins of these names, and those of all others, until told again.

        For what watches the calls of a run and at present waits for none (law 6 of
        docs/architecture.md): even a hook that returns at once costs about a microsecond, at each
        chunk and each tool.
        """
        self._hooks.rest(frozenset(resting))

    def has(self, hook_name: str, agent: BaseAgent | None = None) -> bool:
        """Whether a plugin that does not rest, or the agent, has the hook: most have none.

        A hook of agents is the field that holds their callbacks, such as `before_model_callback`.
        """
        if self._hooks[hook_name]:
            return True
        return agent is not None and getattr(agent, hook_name) is not None

    def set_skip_closing_plugins(self, value: bool) -> None:
        """Leave the plugins open on `close()`, because they belong to another Runner."""
        self._skip_closing = value

    def run_on_user_message_callback(
        self, *, user_message: types.Content, invocation_context: InvocationContext
    ) -> Awaitable[types.Content | None]:
        """Ask for another user message."""
        self._hooks.follow()
        return self._first(
            "on_user_message_callback",
            user_message=user_message,
            invocation_context=invocation_context,
        )

    def run_before_run_callback(
        self, *, invocation_context: InvocationContext
    ) -> Awaitable[types.Content | None]:
        """Ask for an answer in place of the agent's."""
        self._hooks.follow()
        return self._first("before_run_callback", invocation_context=invocation_context)

    def run_after_run_callback(self, *, invocation_context: InvocationContext) -> Awaitable[None]:
        """Tell that the run ended."""
        return self._first("after_run_callback", invocation_context=invocation_context)

    def run_on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Awaitable[Event | None]:
        """Ask for another event."""
        return self._first("on_event_callback", invocation_context=invocation_context, event=event)

    def run_before_agent_callback(
        self, *, agent: BaseAgent, callback_context: Context
    ) -> Awaitable[types.Content | None]:
        """Ask for an answer in place of the agent's."""
        return self._first("before_agent_callback", agent=agent, callback_context=callback_context)

    def run_after_agent_callback(
        self, *, agent: BaseAgent, callback_context: Context
    ) -> Awaitable[types.Content | None]:
        """Ask for one more answer."""
        return self._first("after_agent_callback", agent=agent, callback_context=callback_context)

    def run_before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> Awaitable[LlmResponse | None]:
        """Ask for a response in place of the model's."""
        return self._first(
            "before_model_callback", callback_context=callback_context, llm_request=llm_request
        )

    def run_after_model_callback(
        self, *, callback_context: Context, llm_response: LlmResponse
    ) -> Awaitable[LlmResponse | None]:
        """Ask for another response."""
        return self._first(
            "after_model_callback", callback_context=callback_context, llm_response=llm_response
        )

    def run_on_model_error_callback(
        self, *, callback_context: Context, llm_request: LlmRequest, error: Exception
    ) -> Awaitable[LlmResponse | None]:
        """Ask for a response in place of the model's error."""
        return self._first(
            "on_model_error_callback",
            callback_context=callback_context,
            llm_request=llm_request,
            error=error,
        )

    def run_before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: Context
    ) -> Awaitable[dict[str, Any] | None]:
        """Ask for a result in place of the tool's."""
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
        """Ask for another result."""
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
        """Ask for a result in place of the tool's error."""
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
        """Tell all that a tool was cancelled: they get the CancelledError as its error."""
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
        """Tell that an exception leaves the agent."""
        await self._tell_all(
            "on_agent_error_callback", agent=agent, callback_context=callback_context, error=error
        )

    async def run_on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Tell that an exception leaves the run."""
        await self._tell_all(
            "on_run_error_callback", invocation_context=invocation_context, error=error
        )

    def around_agent(
        self,
        agent: BaseAgent,
        invocation_context: InvocationContext,
        proceed: Callable[[], AsyncGenerator[Event, None]],
    ) -> AsyncGenerator[Event, None]:
        """The agent's events, through each plugin that stands around it; the first is outermost."""
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
        """The model's responses, through each plugin that stands around the call."""
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
        """The tool's result, through each plugin that stands around the call."""
        for _, hook in reversed(self._hooks["around_tool_call"]):
            proceed = partial(
                hook, tool=tool, tool_args=tool_args, tool_context=tool_context, proceed=proceed
            )
        return proceed()

    def around_summary(
        self, events: list[Event], proceed: Callable[[], Awaitable[Event | None]]
    ) -> Awaitable[Event | None]:
        """The summary of the events, through each plugin that stands around the summarizer."""
        for _, hook in reversed(self._hooks["around_summary"]):
            proceed = partial(hook, events=events, proceed=proceed)
        return proceed()

    async def close(self) -> None:
        """Close all plugins, one after the other; RuntimeError names those that failed."""
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
    """What comes of a hook that nobody has: most hooks, many times in each turn."""

    def __await__(self) -> Generator[Any, None, None]:
        # An iterator is all that `await` asks for; to make a generator costs three times as much.
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
