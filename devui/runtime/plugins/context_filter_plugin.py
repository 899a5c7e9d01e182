"""`ContextFilterPlugin`: sends models less of a long conversation (adk-runtime 10.4)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from devui.runtime.models.llm_request import for_reading
from devui.runtime.plugins.base_plugin import BasePlugin

if TYPE_CHECKING:
    from google.genai import types

    from devui.runtime.agents.context import Context
    from devui.runtime.models.llm_request import LlmRequest

logger = logging.getLogger(__name__)

Filter = Callable[[list["types.Content"]], list["types.Content"]]


class ContextFilterPlugin(BasePlugin):
    """Leaves old turns out of requests, without changing the history."""

    def __init__(
        self,
        num_invocations_to_keep: int | None = None,
        custom_filter: Filter | None = None,
        name: str = "context_filter_plugin",
        remove_amount: int = 1,
    ) -> None:
        """Set what to keep.

        Args:
            num_invocations_to_keep: How many of the newest turns to keep; None keeps all. A turn
                begins with the user's message.
            custom_filter: A function that gets the remaining contents and returns those to send.
            name: The plugin's name.
            remove_amount: The fewest turns to leave out at once, so that the beginning of requests
                stays the same for a while and can be cached.

        Raises:
            ValueError: `remove_amount` is less than 1.
        """
        if remove_amount < 1:
            raise ValueError(f"remove_amount is {remove_amount}; it must be 1 or more.")
        super().__init__(name)
        self._num_invocations_to_keep = num_invocations_to_keep
        self._custom_filter = custom_filter
        self._remove_amount = remove_amount

    async def before_model_callback(
        self, *, callback_context: Context, llm_request: LlmRequest
    ) -> None:
        """Shorten the request; if `custom_filter` raises, the request is sent whole.

        Raises:
            TypeError: `custom_filter` returned something that isn't iterable.
        """
        contents = _newest(self, llm_request.contents)
        if self._custom_filter is not None:
            try:
                contents = self._custom_filter(contents)
            except Exception:
                logger.exception(
                    "custom_filter of plugin %r raised an error; sending all contents.", self.name
                )
                return
        if not isinstance(contents, Iterable):
            raise TypeError(
                f"custom_filter returned {type(contents).__name__}; it must be a plain function"
                " that returns the contents to send."
            )
        llm_request.contents = contents if isinstance(contents, list) else list(contents)


def _newest(plugin: ContextFilterPlugin, contents: list[types.Content]) -> list[types.Content]:
    if not plugin._num_invocations_to_keep or plugin._num_invocations_to_keep < 0:
        return contents
    read = for_reading(contents)
    starts = list(
        islice(_newest_starts(read), plugin._num_invocations_to_keep + plugin._remove_amount)
    )
    if len(starts) < plugin._num_invocations_to_keep + plugin._remove_amount:
        return contents
    return contents[_with_calls(read, starts[plugin._num_invocations_to_keep - 1]) :]


def _newest_starts(contents: Sequence[types.Content]) -> Iterator[int]:
    """Yield where turns begin, newest first: at user messages that don't follow another."""
    for index in range(len(contents) - 1, -1, -1):
        if _is_humans(contents[index]) and (index == 0 or not _is_humans(contents[index - 1])):
            yield index


def _is_humans(content: types.Content) -> bool:
    return content.role == "user" and not any(
        part.function_response for part in content.parts or []
    )


def _with_calls(contents: Sequence[types.Content], start: int) -> int:
    """Return `start`, or an earlier index if responses after it belong to calls before it."""
    missing: set[str] = set()
    for index in range(len(contents) - 1, -1, -1):
        for part in reversed(contents[index].parts or []):
            if part.function_response and part.function_response.id:
                missing.add(part.function_response.id)
            if part.function_call and part.function_call.id:
                missing.discard(part.function_call.id)
        if index <= start and not missing:
            return index
    return 0
