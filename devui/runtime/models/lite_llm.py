"""`LiteLlm`: any model that litellm knows (adk-runtime 9.4). Needs `pip install devui[litellm]`."""

import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol, runtime_checkable

from google.genai import types
from pydantic import Field, PrivateAttr

from devui.runtime.models.base_llm import BaseLlm, LlmCapabilities
from devui.runtime.models.chat_answer import ChatAnswer
from devui.runtime.models.chat_dialect import Json
from devui.runtime.models.chat_http import ChatCompletionError
from devui.runtime.models.chat_request import chat_request
from devui.runtime.models.lite_route import Route, route
from devui.runtime.models.lite_thinking import Thinker, without_refused
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.models.providers import PROVIDERS

try:
    # Otherwise litellm, while it is imported, reads a .env file of its own choice and fetches a
    # list of prices from the internet.
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm
except ImportError as error:
    raise ImportError(
        "LiteLlm needs the package litellm: pip install 'devui[litellm]'. For a service that"
        " speaks OpenAI's chat completions, OpenAILlm(base_url=...) does without."
    ) from error

_OURS = ("llm_client", "messages", "tools", "stream")
"""Arguments of a completion that the runtime decides about."""
_INSTEAD = {
    "max_completion_tokens": "max_tokens",
    "thinking": "reasoning_effort",
    "reasoning_effort": "thinking",
}
"""Arguments of a request, and those given at construction that mean the same."""
_MILLISECONDS = 1000
_SHOWN = 500
"""Characters to show of what is no answer."""
_HOUR = 3600
"""Seconds; the longer of the two times that Claude keeps a cache."""


def knows_provider(name: str) -> bool:
    """Whether litellm has models whose names begin with `name/` (adk-runtime 9.2)."""
    return name in litellm.provider_list


class LiteLLMClient:
    """What calls litellm; give a `LiteLlm` another one to see or change the calls."""

    async def acompletion(
        self, model: str, messages: list[Json], tools: list[Json] | None, **kwargs: Any
    ) -> Any:
        """Ask for a completion: litellm's answer, or with `stream=True` its async iterator."""
        # Where a model has no tools, they are described to it.
        litellm.add_function_to_prompt = True
        return await litellm.acompletion(model=model, messages=messages, tools=tools, **kwargs)


class LiteLlm(BaseLlm):
    """A model by litellm's name, such as `openai/gpt-4o` or `ollama_chat/llama3`.

    More keyword arguments, such as `api_base`, `api_key` or `drop_params`, go with every call.
    """

    llm_client: LiteLLMClient = Field(default_factory=LiteLLMClient, exclude=True)
    """What calls litellm."""

    _additional_args: dict[str, Any] = PrivateAttr(default_factory=dict)
    """What goes with every call; subclasses read and change it."""

    def __init__(self, model: str, **kwargs: Any) -> None:
        """Describe the model and what goes with every call."""
        own = {"llm_client": kwargs["llm_client"]} if "llm_client" in kwargs else {}
        super().__init__(model=model, **own)
        self._additional_args = {key: value for key, value in kwargs.items() if key not in _OURS}

    @classmethod
    def supported_models(cls) -> list[str]:
        """Names that begin with one of the well-known providers."""
        return [rf"{provider}/.*" for provider in PROVIDERS]

    @property
    def capabilities(self) -> LlmCapabilities:
        """Whether a request may have both is litellm's knowledge.

        Claude, and Gemini through its simpler service, get the answer's shape as a tool instead:
        litellm asks both for a shape in a way that keeps them from calling other tools.
        """
        way = _way(self, self.model)
        if way.is_gemini and way.provider != "vertex_ai":
            return LlmCapabilities()
        if way.is_claude and not way.is_openais:
            return LlmCapabilities()
        known = litellm.supports_response_schema(way.name, custom_llm_provider=way.provider or None)
        own = way.is_openais and _facts(way) is None  # a deployment under a name of somebody's own
        return LlmCapabilities(output_schema_and_tools=bool(known or own))

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Ask through litellm; its exceptions pass through.

        Raises:
            ChatCompletionError: what the service sent holds no answer.
        """
        self._maybe_append_user_content(llm_request)
        arguments = _call(self, llm_request)
        wish = llm_request.config.thinking_config
        answer = ChatAnswer(
            shows_thoughts=not wish or wish.include_thoughts is not False,
            tools=[
                one["function"]["name"] for one in arguments["tools"] or () if "function" in one
            ],
        )
        if not stream:
            completion = await self.llm_client.acompletion(**arguments)
            found = completion.model_dump()
            if not found.get("choices"):
                raise _no_answer(arguments["model"], str(found)[:_SHOWN])
            answer.add_whole(found)
            yield answer.whole()
            return
        chunks = await self.llm_client.acompletion(
            **arguments, stream=True, stream_options={"include_usage": True}
        )
        async with _hung_up(chunks):
            async for chunk in chunks:
                fragment = answer.add(chunk.model_dump())
                if fragment is not None:
                    yield fragment
        # Of what it cannot read, such as a page, litellm makes an answer that says nothing and ends
        # well; then it has kept no chunk of the service's.
        if isinstance(chunks, litellm.CustomStreamWrapper) and not chunks.chunks:
            told = chunks._hidden_params.get("additional_headers") or {}
            media = told.get("llm_provider-content-type", "nothing of any type")
            raise _no_answer(arguments["model"], media)
        yield answer.whole()


def _no_answer(model: str, sent: str) -> ChatCompletionError:
    return ChatCompletionError(
        0, f"The service of {model} gave no answer, but sent: {sent}. Is api_base right?"
    )


def _way(llm: LiteLlm, model: str) -> Route:
    custom = llm._additional_args.get("custom_llm_provider")
    proxied = (
        llm._additional_args.get("use_litellm_proxy")
        or litellm.use_litellm_proxy
        or os.environ.get("USE_LITELLM_PROXY")
    )
    through = str(proxied).strip().lower() == "true"
    return route(model, custom_provider=custom, proxied=through)


def _limit(llm: LiteLlm) -> int | None:
    given = llm._additional_args
    found: int | None = given.get("max_completion_tokens", given.get("max_tokens"))
    return found


def _call(llm: LiteLlm, llm_request: LlmRequest) -> dict[str, Any]:
    """Settings of the request win over those given at construction."""
    config = llm_request.config
    model = llm_request.model or llm.model
    way = _way(llm, model)
    asked = chat_request(llm_request, model, way.dialect)
    if config.max_output_tokens:
        asked["max_completion_tokens"] = config.max_output_tokens
    if config.top_k is not None:
        asked["top_k"] = config.top_k
    if config.thinking_config:
        limit = config.max_output_tokens or _limit(llm)
        given = any(map(llm._additional_args.get, ("thinking", "reasoning_effort")))
        asked |= _thinker(way).asked(config.thinking_config, limit, given=given)
    replaced = [given for name, given in _INSTEAD.items() if name in asked]
    kept = {key: value for key, value in llm._additional_args.items() if key not in replaced}
    arguments = {"tools": None, **_marks(llm_request), **kept, **asked}
    if "functions" in arguments:  # the older form of tools, beside which no other may be
        arguments["tools"] = None
        arguments.pop("tool_choice", None)
    if config.http_options:
        arguments |= _over_http(config.http_options, arguments.get("extra_headers"))
    return without_refused(arguments) if way.is_claude else arguments


def _over_http(options: types.HttpOptions, headers: Any) -> dict[str, Any]:
    """What the settings say about the request itself."""
    found: dict[str, Any] = {}
    if options.headers:
        found["extra_headers"] = {**(headers or {}), **options.headers}
    if options.timeout:
        found["timeout"] = options.timeout / _MILLISECONDS
    if options.retry_options and options.retry_options.attempts is not None:
        found["num_retries"] = options.retry_options.attempts
    if options.extra_body is not None:
        found["extra_body"] = options.extra_body
    return found


def _marks(llm_request: LlmRequest) -> dict[str, Any]:
    """Up to where a request may be cached, by the app's settings (adk-runtime 3.1).

    The instruction is one such place, the latest message another. litellm leaves the marks out
    for services that do without.
    """
    wishes, size = llm_request.cache_config, llm_request.cacheable_contents_token_count
    if wishes is None or (size is not None and size < wishes.min_tokens):
        return {}
    control = {"type": "ephemeral"}
    if wishes.ttl_seconds >= _HOUR:
        control["ttl"] = "1h"
    places: list[Json] = [{"role": "system"}, {"index": -1}]
    points = [{"location": "message", **place, "control": control} for place in places]
    return {"cache_control_injection_points": points}


@runtime_checkable
class _Line(Protocol):
    """A stream that keeps a connection."""

    async def aclose(self) -> None:
        """Give it back."""


@asynccontextmanager
async def _hung_up(chunks: Any) -> AsyncIterator[None]:
    """Ends the connection of a stream, also when its reader leaves before the end."""
    try:
        yield
    finally:
        if isinstance(chunks, _Line):
            await chunks.aclose()


def _thinker(way: Route) -> Thinker:
    """What litellm knows of how a model thinks; one that does not takes no wishes."""
    custom = way.provider or None
    takes: Any = ()
    if litellm.supports_reasoning(way.name, custom_llm_provider=custom):
        takes = litellm.get_supported_openai_params(way.name, custom_llm_provider=custom) or ()
    facts = (takes and _facts(way)) or {}
    return Thinker(
        name=way.name.lower(),
        claude=way.is_claude or facts.get("litellm_provider") == "anthropic",
        gemini=way.is_gemini,
        budgets="thinking" in takes,
        efforts="reasoning_effort" in takes,
        minimal=bool(facts.get("supports_minimal_reasoning_effort")),
        none=bool(facts.get("supports_none_reasoning_effort")),
        adaptive=bool(facts.get("supports_adaptive_thinking")),
    )


def _facts(way: Route) -> Any:
    """litellm's description of a model; None if it does not know it."""
    try:
        return litellm.get_model_info(way.name, custom_llm_provider=way.provider or None)
    except Exception:  # noqa: BLE001  litellm has no other word for a model it does not know
        return None
