"""`FallbackModel`: tries other models when one is overloaded or down (adk-runtime 9.5)."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import ClassVar, Protocol, Self, runtime_checkable

from google.genai.errors import APIError
from pydantic import Field, PrivateAttr, model_validator

from devui.runtime.models.base_llm import BaseLlm, LlmCapabilities
from devui.runtime.models.llm_request import LlmRequest, own_config
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.models.registry import LLMRegistry

logger = logging.getLogger(__name__)

_NO_ANSWER_OF_A_SERVER = frozenset({"APIConnectionError", "APIResponseValidationError"})
"""litellm errors with status 500, although no server sent it."""


@runtime_checkable
class _WithStatus(Protocol):
    """An error of litellm, OpenAI or Anthropic, or an httpx response."""

    status_code: object


@runtime_checkable
class _WithResponse(Protocol):
    """An httpx error."""

    response: object


class FallbackModel(BaseLlm):
    """Asks its models in order, each of them once, until one doesn't fail.

    The next model is asked if the error has one of `retriable_status_codes` and no part of an
    answer has arrived: an answer never mixes two models. All other errors, and those of the last
    model, reach the agent's callbacks as if there were no fallback. To retry a single model, use
    its own option, such as `Gemini(retry_options=…)`.
    """

    DEFAULT_STATUS_CODES: ClassVar[frozenset[int]] = frozenset({429, 500, 502, 503, 504})
    """The default of `retriable_status_codes`."""

    models: list[str | BaseLlm] = Field(min_length=1)
    """The models in the order they are asked: names, or objects with settings."""
    retriable_status_codes: frozenset[int] = DEFAULT_STATUS_CODES
    """HTTP statuses after which the next model is asked."""
    model: str = ""
    """The name of the first model, set automatically."""
    _by_name: dict[str, BaseLlm] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _named_after_the_first(self) -> Self:
        first = self.models[0]
        name = first if isinstance(first, str) else first.model
        if self.model not in ("", name):
            raise ValueError(
                f"A FallbackModel takes its name from the first of its models, {name!r}. Remove"
                f" model={self.model!r}, or add it to `models`."
            )
        self.model = name
        return self

    @property
    def capabilities(self) -> LlmCapabilities:
        """Those of the first model: a request is built before it is known which model answers."""
        return self._llm(self.models[0]).capabilities

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield the answer of the first model that doesn't fail.

        Raises:
            Exception: the error of the last model, or of one after which no other may be asked.
            ValueError: no class is registered for a model's name.
        """
        *others, last = self.models
        for entry in others:
            llm = self._llm(entry)
            contents, config = llm_request.contents, llm_request.config
            # Models change the request to suit themselves; the next one must get the original.
            llm_request.contents = list(contents)
            llm_request.config = own_config(config)
            has_begun = False
            try:
                async with aclosing(_ask(llm, llm_request, stream)) as answers:
                    async for answer in answers:
                        has_begun = True
                        yield answer
            except Exception as error:
                status = _status(error)
                if has_begun or status not in self.retriable_status_codes:
                    raise
                logger.warning(
                    "%s failed with status %s; trying the next model.", llm.model, status
                )
            else:
                return
            llm_request.contents, llm_request.config = contents, config
        async with aclosing(_ask(self._llm(last), llm_request, stream)) as answers:
            async for answer in answers:
                yield answer

    def _llm(self, entry: str | BaseLlm) -> BaseLlm:
        """Return an entry's model. A named one is created once, since it keeps connections."""
        if isinstance(entry, BaseLlm):
            return entry
        if entry not in self._by_name:
            self._by_name[entry] = LLMRegistry.new_llm(entry)
        return self._by_name[entry]


def _ask(llm: BaseLlm, llm_request: LlmRequest, stream: bool) -> AsyncGenerator[LlmResponse, None]:
    llm_request.model = llm.model  # overrides the model's own name
    return llm.generate_content_async(llm_request, stream)


def _status(error: Exception) -> int | None:
    """Return an error's HTTP status, wherever its library stores it, or None."""
    kind = type(error)
    if kind.__module__ == "litellm.exceptions" and kind.__name__ in _NO_ANSWER_OF_A_SERVER:
        return None
    if isinstance(error, APIError):
        return error.code
    response = error.response if isinstance(error, _WithResponse) else None
    for holder in (error, response):
        if isinstance(holder, _WithStatus) and isinstance(holder.status_code, int):
            return holder.status_code
    return None
