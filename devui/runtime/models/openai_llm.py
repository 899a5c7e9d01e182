"""`OpenAILlm`: OpenAI, and every service with its chat completions API (adk-runtime 9.5)."""

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
    without_key,
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
"""Reasoning models: they accept the limit of output tokens only under its newer name, and no
temperature but the default."""


class OpenAILlm(BaseLlm):
    """A model behind OpenAI's chat completions API, over plain HTTP.

    `base_url` and `api_key` are taken from `OPENAI_BASE_URL` and `OPENAI_API_KEY` by default.
    Local servers such as Ollama, vLLM or LM Studio need no key:
    `OpenAILlm(model="llama3", base_url="http://localhost:11434/v1")`.
    """

    model: str = "gpt-4o"
    """The service's name for the model."""
    max_tokens: int = 4096
    """The limit of output tokens if the agent's settings have none."""
    api_key: str | Callable[[], str] | Callable[[], Awaitable[str]] | None = Field(
        default=None, exclude=True, repr=False
    )
    """The key, or a function that returns the current one."""
    base_url: str | None = None
    """The service's URL, without `/chat/completions`."""
    timeout: float = 600.0
    """Seconds to wait for the next piece of an answer."""
    max_retries: int = Field(default=2, ge=0)
    """How often to retry a request that got no response, or a 408, 409, 429 or 5xx."""
    client: Any = Field(default=None, exclude=True, repr=False)
    """An `openai.AsyncOpenAI`, or one for Azure, that sends the requests instead, with its own
    URL, key, timeout and retries."""

    _client_by_loop: Clients[httpx.AsyncClient] = PrivateAttr(default_factory=Clients)

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return patterns of OpenAI's own names; other models need an `OpenAILlm` object."""
        return [r"gpt-.*", r"o\d+-.*"]

    @property
    def capabilities(self) -> LlmCapabilities:
        """What the model supports: output schemas together with tools."""
        return LlmCapabilities(output_schema_and_tools=True)

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Ask the service.

        Raises:
            ChatCompletionError: the service refused the request, failed, or broke off its answer;
                or there is no key for OpenAI.
            ConnectionError: the service can't be reached.
            openai.OpenAIError: a request through `client` failed.
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
async def _post(
    llm: OpenAILlm, url: str, body: Json, headers: dict[str, str]
) -> AsyncIterator[Any]:
    try:
        response = await _send(llm, url, body, headers)
        async with aclosing(response):
            if response.status_code >= httpx.codes.BAD_REQUEST:
                raise failure(response.status_code, await response.aread(), url)
            yield response
    except httpx.TransportError as error:
        raise ConnectionError(
            f"{url} cannot be reached or dropped the connection: {error!r}. Check base_url and"
            " that the service is running."
        ) from error


async def _send(llm: OpenAILlm, url: str, body: Json, headers: dict[str, str]) -> Any:
    """Send a request, with retries; return the response before its body has been read."""
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
        logger.warning("%s: %s. Retrying in %.1f s.", url, why, seconds)
        await asyncio.sleep(seconds)
    request = client.build_request("POST", url, json=body, headers=headers)
    return await client.send(request, stream=True)


async def _over_http(llm: OpenAILlm, body: Json, stream: bool) -> AsyncGenerator[Json, None]:
    host = llm.base_url or os.environ.get("OPENAI_BASE_URL") or _HOST
    url = host.rstrip("/") + "/chat/completions"
    headers = await _headers(llm)
    if not headers and host == _HOST:
        raise without_key(body["model"])
    async with _post(llm, url, body, headers) as response:
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
        raise broken_off("The service ended its response")


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
    """Remove settings that reasoning models refuse, unless they have their default values."""
    unsupported = [name for name in ("temperature", "top_p") if body.get(name, 1) != 1]
    if unsupported:
        logger.warning(
            "%s only accepts its default %s; the setting was skipped.",
            model,
            " and ".join(unsupported),
        )
    return {key: value for key, value in body.items() if key not in unsupported}
