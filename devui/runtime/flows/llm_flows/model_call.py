"""One call of the model, with the callbacks around it (adk-runtime 6.5, 7.4)."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, cast

from google.genai import types

from devui.runtime.agents.context import Context, ReadonlyContext
from devui.runtime.agents.run_config import StreamingMode
from devui.runtime.calling import Callback, check_result, first_result, is_not_none, is_truthy
from devui.runtime.flows.llm_flows.processors import agent_of
from devui.runtime.flows.llm_flows.visibility import says_something
from devui.runtime.mistakes import brief, place
from devui.runtime.models.llm_request import own_contents
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.models.response_aggregator import NO_CONTENT
from devui.runtime.telemetry.switch import instruments
from devui.runtime.tools.base_tool import kept_sources

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event
    from devui.runtime.models.llm_request import LlmRequest

_AGENT_LABEL = "adk_agent_name"


class ModelCall:
    """One request to the model, and the responses to it.

    Plugins are asked before the agent's own callbacks, which are skipped if a plugin answers.
    """

    def __init__(self, ctx: InvocationContext, llm_request: LlmRequest, event: Event) -> None:
        """Prepare a call whose answer becomes `event`, which also takes its callbacks' changes."""
        self._ctx = ctx
        self._plugins = ctx.plugin_manager
        self._agent = agent_of(ctx)
        self._request = llm_request
        self._event = event
        self._context = Context(ctx, event_actions=event.actions)
        self._streams = ctx.run_config is not None and (
            ctx.run_config.streaming_mode is StreamingMode.SSE
        )

    def responses(self) -> AsyncGenerator[LlmResponse, None]:
        """Yield fragments and whole answers, after the callbacks.

        Raises:
            LlmCallsLimitExceededError: The invocation may make no more model calls.
            Exception: What the model raised, unless a callback answered instead; and what a
                callback raised.
        """
        spans, answers = instruments(), self._between_callbacks()
        if spans is None:
            return answers
        return spans.model_call(self._ctx, self._request, self._event, answers)

    async def _between_callbacks(self) -> AsyncGenerator[LlmResponse, None]:
        answer = None
        if self._plugins.has("before_model_callback", self._agent):
            with own_contents(self._request, by="before_model_callback"):
                answer = await self._before()
            self._record_changes()
        if answer is not None:
            yield answer
            return
        self._label()
        self._model = await self._agent.canonical_model_async(ReadonlyContext(self._ctx))
        self._ctx.increment_llm_call_count()
        answers = self._answers()
        try:
            while True:
                try:
                    answer = await anext(answers)
                except StopAsyncIteration:
                    return
                except Exception as error:  # noqa: BLE001  callbacks may answer for any error
                    answer = await self._after(await self._recovered(error))
                    self._record_changes()
                    yield self._check(self._with_sources(answer))
                    return
                if not isinstance(answer, LlmResponse):
                    raise self._no_response(answer)
                if self._plugins.has("after_model_callback", self._agent):
                    answer = await self._after(answer)
                    self._record_changes()
                yield self._check(self._with_sources(answer))
        finally:
            await answers.aclose()

    def _answers(self) -> AsyncGenerator[LlmResponse, None]:
        answers = self._plugins.around_model_call(
            self._context, self._request, self._ask, stream=self._streams
        )
        if (spans := instruments()) is None:
            return answers
        return spans.inference(self._ctx, self._request, self._event, answers)

    def _ask(self, llm_request: LlmRequest) -> AsyncGenerator[LlmResponse, None]:
        ask = self._model.generate_content_async
        try:
            answers = ask(llm_request, stream=self._streams)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                raise self._does_not_take(error) from None
            raise
        if isinstance(answers, AsyncIterator):
            return answers
        if inspect.iscoroutine(answers):
            answers.close()
        raise TypeError(
            f"{place(self._model.generate_content_async)} of {type(self._model).__name__} returned"
            f" {type(answers).__name__}; it must be `async def` and yield LlmResponses."
        )

    def _does_not_take(self, error: TypeError) -> TypeError:
        """Return the error for a model with the wrong parameters; `error` is Python's own."""
        ask = self._model.generate_content_async
        return TypeError(
            f"{place(ask)} of {type(self._model).__name__} can't be called with (llm_request,"
            f" stream={self._streams}): {error}."
            " Define it as `async def generate_content_async(self, llm_request, stream=False)`."
        )

    def _no_response(self, answer: object) -> TypeError:
        """Return the error for a wrong value yielded by a model or by a plugin around its call."""
        return TypeError(
            f"{place(self._model.generate_content_async)} of {type(self._model).__name__} yielded"
            f" {brief(answer)}; models must yield LlmResponses, such as"
            ' LlmResponse(content=types.Content(role="model", parts=[types.Part(text=...)])).'
        )

    def _label(self) -> None:
        """Label the request with the agent's name, so that bills can be split by agent."""
        config = self._request.config
        config.labels = {_AGENT_LABEL: self._agent.name, **(config.labels or {})}

    async def _before(self) -> LlmResponse | None:
        answer = await self._plugins.run_before_model_callback(
            callback_context=self._context, llm_request=self._request
        )
        if answer is not None:
            return answer
        callbacks = self._agent.canonical_before_model_callbacks
        if not callbacks:
            return None
        result = await first_result(
            callbacks, is_truthy, callback_context=self._context, llm_request=self._request
        )
        return _response(result, "before_model_callback", callbacks)

    def _record_changes(self) -> None:
        """Make the next event commit what callbacks changed in place (adk-runtime 2.2)."""
        self._context.state.has_delta()

    async def _after(self, answer: LlmResponse) -> LlmResponse:
        replacement = await self._plugins.run_after_model_callback(
            callback_context=self._context, llm_response=answer
        )
        if replacement is None and (callbacks := self._agent.canonical_after_model_callbacks):
            result = await first_result(
                callbacks, is_truthy, callback_context=self._context, llm_response=answer
            )
            replacement = _response(result, "after_model_callback", callbacks)
        return answer if replacement is None else _completed(replacement, answer)

    def _with_sources(self, answer: LlmResponse) -> LlmResponse:
        sources = kept_sources(self._request.tools_dict.values(), self._context)
        if sources is not None:
            answer.grounding_metadata = sources
        return answer

    async def _recovered(self, error: Exception) -> LlmResponse:
        """Return the callbacks' answer to an error; raise the error again if there is none."""
        answer = await self._plugins.run_on_model_error_callback(
            callback_context=self._context, llm_request=self._request, error=error
        )
        if answer is None:
            callbacks = self._agent.canonical_on_model_error_callbacks
            result = await first_result(
                callbacks,
                is_not_none,
                callback_context=self._context,
                llm_request=self._request,
                error=error,
            )
            answer = _response(result, "on_model_error_callback", callbacks)
        if answer is None:
            raise error
        return answer

    def _check(self, answer: LlmResponse) -> LlmResponse:
        """Mark an answer that ended normally but says nothing, since nobody could act on it."""
        if (
            answer.finish_reason != types.FinishReason.STOP
            or answer.partial
            or answer.error_code is not None
            or says_something(answer.content)
        ):
            return answer
        has_parts = answer.content is not None and bool(answer.content.parts)
        if has_parts or not self._streams:
            answer.error_code = NO_CONTENT
            answer.error_message = "The model ended its answer without saying anything."
        return answer


def _response(result: object, name: str, callbacks: list[Callback]) -> LlmResponse | None:
    """Check the result of callbacks, which is often another library's response."""
    if result is None:
        return None
    check_result(result, LlmResponse, name, callbacks)
    return cast("LlmResponse", result)


def _completed(replacement: LlmResponse, original: LlmResponse) -> LlmResponse:
    """Copy missing completion flags and token counts from the original to its replacement."""
    for name in ("partial", "turn_complete", "usage_metadata"):
        if getattr(replacement, name) is None:
            setattr(replacement, name, getattr(original, name))
    return replacement
