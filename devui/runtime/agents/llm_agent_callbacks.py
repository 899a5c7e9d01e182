"""The callbacks of an agent with a model (adk-runtime 6.5)."""

from typing import Any

from devui.runtime.agents.base_agent import BaseAgent
from devui.runtime.callbacks import Callback, Callbacks, as_list

BeforeModelCallback = AfterModelCallback = OnModelErrorCallback = Callbacks
BeforeToolCallback = AfterToolCallback = OnToolErrorCallback = Callbacks
"""For annotations; ADK's names."""


class LlmAgentCallbacks(BaseAgent):
    """The part of an `LlmAgent` by which others see and change what passes models and tools.

    Each callback is a function or a list of functions; of a list, the first answer counts.
    """

    before_model_callback: Any = None
    """Called with `callback_context` and `llm_request`; an LlmResponse stands for the model's."""
    after_model_callback: Any = None
    """Called with `callback_context` and `llm_response`, fragments too; may replace it."""
    on_model_error_callback: Any = None
    """Called with `callback_context`, `llm_request` and `error`; an LlmResponse recovers."""
    before_tool_callback: Any = None
    """Called with `tool`, `args` and `tool_context`; a dict stands for the tool's result."""
    after_tool_callback: Any = None
    """Called with `tool`, `args`, `tool_context` and `tool_response`; a dict replaces it."""
    on_tool_error_callback: Any = None
    """Called with `tool`, `args`, `tool_context` and `error`; a dict recovers."""

    @property
    def canonical_before_model_callbacks(self) -> list[Callback]:
        """`before_model_callback` as a list."""
        return as_list(self.before_model_callback)

    @property
    def canonical_after_model_callbacks(self) -> list[Callback]:
        """`after_model_callback` as a list."""
        return as_list(self.after_model_callback)

    @property
    def canonical_on_model_error_callbacks(self) -> list[Callback]:
        """`on_model_error_callback` as a list."""
        return as_list(self.on_model_error_callback)

    @property
    def canonical_before_tool_callbacks(self) -> list[Callback]:
        """`before_tool_callback` as a list."""
        return as_list(self.before_tool_callback)

    @property
    def canonical_after_tool_callbacks(self) -> list[Callback]:
        """`after_tool_callback` as a list."""
        return as_list(self.after_tool_callback)

    @property
    def canonical_on_tool_error_callbacks(self) -> list[Callback]:
        """`on_tool_error_callback` as a list."""
        return as_list(self.on_tool_error_callback)
