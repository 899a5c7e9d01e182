"""`OpenAILlm`: OpenAI, and every service that speaks its chat completions (adk-runtime 9.5)."""

import asyncio
import logging
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

from pydantic import Field, PrivateAttr

from devui.runtime.calling import call
from devui.runtime.http_client import httpx
from devui.runtime.models.base_llm import BaseLlm, Clients, LlmCapabilities
from devui.runtime.models.chat_answer import ChatAnswer
from devui.runtime.models.chat_dialect import OPENAI, Json
from devui.runtime.models.chat_http import (
    NOT_ANSWERED,
    broken_off,
    chunks,
    completion,
    failure,
    has_ended,
    may_pass,
    pause,
)
from devui.runtime.models.chat_http import (
    ChatCompletionError as ChatCompletionError,
)
from devui.runtime.models.chat_request import chat_request
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse

logger = logging.getLogger(__name__)

_HOST = "https://api.openai.com/v1"
_REASONING = re.compile(r"(?:.*/)?(?:o\d+|gpt-[56](?!.*-chat))(?:[-.].*)?", re.IGNORECASE)
"""Models that think: they know the limit of output tokens under its newer name alone, and no
other temperature than their own."""


class OpenAILlm(BaseLlm):
    """A model behind OpenAI's chat completions, over plain HTTP.

    Without `base_url` and `api_key`, `OPENAI_BASE_URL` and `OPENAI_API_KEY` tell where it is and
    who asks. Local servers such as Ollama, vLLM or LM Studio need no key:
    `OpenAILlm(model="llama3", base_url="http://localhost:11434/v1")`.
    """

    model: str = "gpt-4o"
    """A name that the service knows."""
    max_tokens: int = 4096
    """The limit of output tokens where the agent's settings give none."""
    api_key: str | Callable[[], str] | Callable[[], Awaitable[str]] | None = Field(
        default=None, exclude=True, repr=False
    )
    """The key, or a function that gives the present one."""
    base_url: str | None = None
    """Where the service is, up to and without `/chat/completions`."""
    timeout: float = 600.0
    """Seconds to wait for the next piece of an answer."""
    max_retries: int = Field(default=2, ge=0)
    """How often a request is sent again that was not answered, or with 408, 409, 429 or 5xx."""
    client: Any = Field(default=None, exclude=True, repr=False)
    """An `openai.AsyncOpenAI`, or one for Azure, to ask through in place of all that, with retries
    of its own."""

    _client_by_loop: Clients[httpx.AsyncClient] = PrivateAttr(default_factory=Clients)

    @classmethod
    def supported_models(cls) -> list[str]:
        """OpenAI's own names; others need an `OpenAILlm` object."""
        return [r"gpt-.*", r"o\d+-.*"]

    @property
    def capabilities(self) -> LlmCapabilities:
        """OpenAI takes an answer format together with tools."""
        return LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Ask the service.

        Raises:
            ChatCompletionError: it refused the request, failed, or broke its answer off.
            ConnectionError: it cannot be reached.
            openai.OpenAIError: a `client` was given, and the request failed.
        """
        self._maybe_append_user_content(llm_request)
        body = _body(self, llm_request, stream=stream)
        answer = ChatAnswer()
        ask = _through_client if self.client is not None else _over_http
        async with aclosing(ask(self, body, stream)) as pieces:
            async for piece in pieces:
                if not stream:
                    answer.add_whole(piece)
                elif (fragment := answer.add(piece)) is not None:
                    yield fragment
        whole = answer.whole()
        if not stream:
            whole.partial = None
        yield whole

    async def aclose(self) -> None:
        """Close the connections of the running event loop; the next request opens new ones."""
        client = self._client_by_loop.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()


def _client(llm: OpenAILlm) -> httpx.AsyncClient:
    loop = asyncio.get_running_loop()
    if loop not in llm._client_by_loop:
        llm._client_by_loop[loop] = httpx.AsyncClient(timeout=llm.timeout)
    return llm._client_by_loop[loop]


async def _headers(llm: OpenAILlm) -> dict[str, str]:
    api_key = llm.api_key
    key = await call(api_key) if callable(api_key) else api_key
    key = key or os.environ.get("OPENAI_API_KEY")
    return {"Authorization": f"Bearer {key}"} if key else {}


@asynccontextmanager
async def _post(llm: OpenAILlm, url: str, body: Json) -> AsyncIterator[Any]:
    headers = await _headers(llm)
    try:
        response = await _send(llm, url, body, headers)
        async with aclosing(response):
            if response.status_code >= httpx.codes.BAD_REQUEST:
                raise failure(response.status_code, await response.aread(), url)
            yield response
    except httpx.TransportError as error:
        raise ConnectionError(
            f"{url} cannot be reached or broke off: {error!r}. Is base_url right, and does"
            " the service run?"
        ) from error


async def _send(llm: OpenAILlm, url: str, body: Json, headers: dict[str, str]) -> Any:
    """The beginning of an answer, after as many requests as it takes and may take."""
    client = _client(llm)
    for attempt in range(llm.max_retries):
        request = client.build_request("POST", url, json=body, headers=headers)
        try:
            response = await client.send(request, stream=True)
        except NOT_ANSWERED as error:
            why, seconds = repr(error), pause(attempt)
        else:
            if not may_pass(response.status_code):
                return response
            why, seconds = f"HTTP {response.status_code}", pause(attempt, response.headers)
            await response.aclose()
        logger.warning("%s: %s. It is asked again in %.1f s.", url, why, seconds)
        await asyncio.sleep(seconds)
    request = client.build_request("POST", url, json=body, headers=headers)
    return await client.send(request, stream=True)


async def _over_http(llm: OpenAILlm, body: Json, stream: bool) -> AsyncGenerator[Json, None]:
    url = llm.base_url or os.environ.get("OPENAI_BASE_URL") or _HOST
    url = url.rstrip("/") + "/chat/completions"
    async with _post(llm, url, body) as response:
        if not stream:
            yield completion(response, await response.aread(), url)
            return
        async for chunk in chunks(response, url):
            yield chunk


async def _through_client(llm: OpenAILlm, body: Json, stream: bool) -> AsyncGenerator[Json, None]:
    response = await llm.client.chat.completions.create(**body)
    if not stream:
        yield response.model_dump(mode="json", exclude_none=True)
        return
    ended = False
    async with response:
        async for chunk in response:
            piece = chunk.model_dump(mode="json", exclude_none=True)
            ended = ended or has_ended(piece)
            yield piece
    if not ended:
        raise broken_off("The service ended its answer")


def _body(llm: OpenAILlm, llm_request: LlmRequest, *, stream: bool) -> Json:
    model = llm_request.model or llm.model
    body = chat_request(llm_request, model, OPENAI)
    thinks = _REASONING.fullmatch(model)
    if thinks:
        body = _without_refused(body, model)
    limit = "max_completion_tokens" if thinks else "max_tokens"
    body[limit] = llm_request.config.max_output_tokens or llm.max_tokens
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def _without_refused(body: Json, model: str) -> Json:
    """A request without settings that models that think refuse, unless they are as by default."""
    unsupported = [name for name in ("temperature", "top_p") if body.get(name, 1) != 1]
    if unsupported:
        logger.warning("%s takes no %s but its own: left out.", model, " and no ".join(unsupported))
    return {key: value for key, value in body.items() if key not in unsupported}
