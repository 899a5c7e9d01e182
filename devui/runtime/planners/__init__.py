"""Planners: how an agent's model thinks before it acts (adk-runtime 10.5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from google.genai import types

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context, ReadonlyContext
    from devui.runtime.models.llm_request import LlmRequest


# `BasePlanner`: asks a model for a plan, and reads it (adk-runtime 10.5).


class BasePlanner(ABC):
    """Changes the requests to an agent's model, and how its answers are used."""

    @abstractmethod
    def build_planning_instruction(
        self, readonly_context: ReadonlyContext, llm_request: LlmRequest
    ) -> str | None:
        """Return what to add to the system instruction, or None. The request is read-only."""

    @abstractmethod
    def process_planning_response(
        self, callback_context: Context, response_parts: list[types.Part]
    ) -> list[types.Part] | None:
        """Return parts to use in place of the model's; None or an empty list keeps those.

        Also called for each fragment of a streamed answer. The given parts are read-only.
        """


# `BuiltInPlanner`: lets the model think by itself (adk-runtime 10.5).


class BuiltInPlanner(BasePlanner):
    """Enables thinking for models that support it; others reject the request."""

    def __init__(self, *, thinking_config: types.ThinkingConfig) -> None:
        """Think as `thinking_config` says; it overrides that of the agent's own settings."""
        self.thinking_config = thinking_config

    def apply_thinking_config(self, llm_request: LlmRequest) -> None:
        """Put the thinking settings into a request."""
        llm_request.config.thinking_config = self.thinking_config

    def build_planning_instruction(
        self, readonly_context: ReadonlyContext, llm_request: LlmRequest
    ) -> str | None:
        """Return None: the model needs no instruction to think."""
        return None

    def process_planning_response(
        self, callback_context: Context, response_parts: list[types.Part]
    ) -> list[types.Part] | None:
        """Return None: the model marks its thoughts itself."""
        return None


# `PlanReActPlanner`: a plan first, then steps, then the answer (adk-runtime 10.5).


PLANNING_TAG = "/*PLANNING*/"
REPLANNING_TAG = "/*REPLANNING*/"
REASONING_TAG = "/*REASONING*/"
ACTION_TAG = "/*ACTION*/"
FINAL_ANSWER_TAG = "/*FINAL_ANSWER*/"

_THINKING_TAGS = (PLANNING_TAG, REASONING_TAG, ACTION_TAG, REPLANNING_TAG)

_INSTRUCTION = f"""\
Work in three stages, and write the tag of a stage before what belongs to it.

1. {PLANNING_TAG} Before anything else, write a numbered plan: which of your tools you will use, \
in which order, and what for. Plan for everything the user asks, with tools that you have.
2. {ACTION_TAG} Carry out the plan by calling tools. Between the calls, under {REASONING_TAG}, \
sum up what you know by now and say what comes next. When the plan does not work out, write a new \
one under {REPLANNING_TAG} and follow that.
3. {FINAL_ANSWER_TAG} End with one answer, in the form the user wants. If your tools and what you \
know do not suffice, say why and ask for what is missing.

Trust what tools return more than what you remember, and do not fetch again what the conversation \
already holds. Use only the tools and parameters that are declared to you."""


class PlanReActPlanner(BasePlanner):
    """Makes any model plan by instruction; text under its planning tags becomes thoughts.

    The text after the last final-answer tag is the answer.
    """

    def build_planning_instruction(
        self, readonly_context: ReadonlyContext, llm_request: LlmRequest
    ) -> str:
        """Return the instruction to plan, act and answer under tags."""
        return self._build_nl_planner_instruction()

    def _build_nl_planner_instruction(self) -> str:
        """Return the instruction; subclasses may word it differently."""
        return _INSTRUCTION

    def process_planning_response(
        self, callback_context: Context, response_parts: list[types.Part]
    ) -> list[types.Part] | None:
        """Separate thoughts from answer, without tags; drop all after the first group of calls."""
        index = next((i for i, part in enumerate(response_parts) if _calls(part)), None)
        if index is None:
            index = len(response_parts)
        processed = [read for part in response_parts[:index] for read in _read(part)]
        calls = takewhile(lambda part: part.function_call, response_parts[index:])
        return [*processed, *calls]


def _calls(part: types.Part) -> bool:
    return bool(part.function_call and part.function_call.name)


def _read(part: types.Part) -> Iterator[types.Part]:
    """Split a part into thoughts and answer; drop calls without a name."""
    if part.function_call:
        return
    text = part.text or ""
    thought, tag, answer = text.rpartition(FINAL_ANSWER_TAG)
    if tag:
        if thought := _untagged(thought):
            yield types.Part(text=thought, thought=True)
        if answer:
            yield types.Part(text=answer)
    elif text.startswith(_THINKING_TAGS):
        yield part.model_copy(update={"text": _untagged(text), "thought": True})
    else:
        yield part


def _untagged(text: str) -> str:
    for tag in _THINKING_TAGS:
        text = text.replace(tag, "")
    return text


__all__ = ["BasePlanner", "BuiltInPlanner", "PlanReActPlanner"]
