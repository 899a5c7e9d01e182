"""`FallbackModel`: models in reserve, for when one is overloaded or down (adk-runtime 9.5)."""

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
"""Errors of litellm that say 500 although no server did."""


@runtime_checkable
class _WithStatus(Protocol):
    """An error of litellm, OpenAI or Anthropic; a response of httpx."""

    status_code: object


@runtime_checkable
class _WithResponse(Protocol):
    """An error of httpx."""

    response: object


class FallbackModel(BaseLlm):
    """Asks the first of its models; if that fails, the next, each of them once.

    A failure counts when it carries one of `retriable_status_codes` and nothing of an answer has
    come yet: two models never speak in one answer. Every other failure, and that of the last
    model, goes to the agent's callbacks as if there were no reserve. A model that should try
    again by itself has retries of its own, such as `Gemini(retry_options=…)`.
    """

    DEFAULT_STATUS_CODES: ClassVar[frozenset[int]] = frozenset({429, 500, 502, 503, 504})
    """HTTP codes for which the next model is asked, unless others are given."""

    models: list[str | BaseLlm] = Field(min_length=1)
    """The models in the order in which they are asked: names, or objects with settings."""
    retriable_status_codes: frozenset[int] = DEFAULT_STATUS_CODES
    """HTTP statuses after which the next model is asked."""
    model: str = ""
    """The name of the first of the models; not to be given."""
    _by_name: dict[str, BaseLlm] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _named_after_the_first(self) -> Self:
        first = self.models[0]
        name = first if isinstance(first, str) else first.model
        if self.model not in ("", name):
            raise ValueError(
                f"A FallbackModel is named after the first of its models, here {name!r}: leave out"
                f" model={self.model!r}, or put it into `models`."
            )
        self.model = name
        return self

    @property
    def capabilities(self) -> LlmCapabilities:
        """Those of the first model: a request is made before it is known who answers it."""
        return self._llm(self.models[0]).capabilities

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """The answer of the first model that does not fail.

        Raises:
            Exception: what the last model raised; or any of them, if the next must not be asked.
            ValueError: no class is known for a model's name.
        """
        *others, last = self.models
        for entry in others:
            llm = self._llm(entry)
            contents, config = llm_request.contents, llm_request.config
            # A model prepares the request for itself; the next must not get what that has changed.
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
                logger.warning("%s failed with status %s; the next is asked.", llm.model, status)
            else:
                return
            llm_request.contents, llm_request.config = contents, config
        async with aclosing(_ask(self._llm(last), llm_request, stream)) as answers:
            async for answer in answers:
                yield answer

    def _llm(self, entry: str | BaseLlm) -> BaseLlm:
        """The model of an entry; one that is named is made once, since it keeps connections."""
        if isinstance(entry, BaseLlm):
            return entry
        if entry not in self._by_name:
            self._by_name[entry] = LLMRegistry.new_llm(entry)
        return self._by_name[entry]


def _ask(llm: BaseLlm, llm_request: LlmRequest, stream: bool) -> AsyncGenerator[LlmResponse, None]:
    llm_request.model = llm.model  # which it takes from there
    return llm.generate_content_async(llm_request, stream)


def _status(error: Exception) -> int | None:
    """The HTTP status that an error carries, wherever its library keeps it; None if it has none."""
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
