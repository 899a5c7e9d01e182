"""`LiteLlm`: any model that litellm knows (adk-runtime 9.4). Needs `pip install devui[litellm]`."""

import os
from collections.abc import AsyncGenerator
from typing import Any

from pydantic import Field, PrivateAttr

from devui.runtime.models.base_llm import BaseLlm, LlmCapabilities
from devui.runtime.models.chat_answer import ChatAnswer
from devui.runtime.models.chat_messages import Json
from devui.runtime.models.chat_request import chat_request
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
_MILLISECONDS = 1000


def knows_provider(name: str) -> bool:
    """Whether litellm has models whose names begin with `name/` (adk-runtime 9.2)."""
    return name in litellm.provider_list


class LiteLLMClient:
    """What calls litellm; give a `LiteLlm` another one to see or change the calls."""

    async def acompletion(
        self, model: str, messages: list[Json], tools: list[Json] | None, **kwargs: Any
    ) -> Any:
        """Ask for a completion: litellm's answer, or with `stream=True` its async iterator."""
        return await litellm.acompletion(model=model, messages=messages, tools=tools, **kwargs)


class LiteLlm(BaseLlm):
    """A model by litellm's name, such as `openai/gpt-4o` or `ollama_chat/llama3`.

    More keyword arguments, such as `api_base`, `api_key` or `drop_params`, go with every call.
    """

    llm_client: LiteLLMClient = Field(default_factory=LiteLLMClient, exclude=True)
    """What calls litellm."""

    _arguments: dict[str, Any] = PrivateAttr(default_factory=dict)

    def __init__(self, model: str, **kwargs: Any) -> None:
        """Describe the model and what goes with every call."""
        own = {"llm_client": kwargs["llm_client"]} if "llm_client" in kwargs else {}
        super().__init__(model=model, **own)
        self._arguments = {key: value for key, value in kwargs.items() if key not in _OURS}

    @classmethod
    def supported_models(cls) -> list[str]:
        """Names that begin with one of the well-known providers."""
        return [rf"{provider}/.*" for provider in PROVIDERS]

    @property
    def capabilities(self) -> LlmCapabilities:
        """Which services take an answer format together with tools is litellm's knowledge."""
        provider = self._arguments.get("custom_llm_provider")
        known = litellm.supports_response_schema(self.model, custom_llm_provider=provider)
        return LlmCapabilities(output_schema_and_tools=bool(known))

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Ask through litellm; its exceptions pass through."""
        self._maybe_append_user_content(llm_request)
        arguments = self._call(llm_request)
        answer = ChatAnswer()
        if not stream:
            completion = await self.llm_client.acompletion(**arguments)
            answer.add_whole(completion.model_dump())
            yield answer.whole()
            return
        chunks = await self.llm_client.acompletion(
            **arguments, stream=True, stream_options={"include_usage": True}
        )
        async for chunk in chunks:
            fragment = answer.add(chunk.model_dump())
            if fragment is not None:
                yield fragment
        yield answer.whole()

    def _call(self, llm_request: LlmRequest) -> dict[str, Any]:
        """Settings of the request win over those given at construction."""
        config = llm_request.config
        model = llm_request.model or self.model
        asked = chat_request(llm_request, model, with_thoughts=True)
        if config.max_output_tokens:
            asked["max_completion_tokens"] = config.max_output_tokens
        if config.top_k is not None:
            asked["top_k"] = config.top_k
        arguments = {"tools": None, **self._arguments, **asked}
        if "max_completion_tokens" in asked:
            arguments.pop("max_tokens", None)
        http = config.http_options
        if http and http.headers:
            arguments["extra_headers"] = {**arguments.get("extra_headers", {}), **http.headers}
        if http and http.timeout:
            arguments["timeout"] = http.timeout / _MILLISECONDS
        return arguments
