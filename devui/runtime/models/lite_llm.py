"""`LiteLlm`: any model that litellm knows (adk-runtime 9.4). Needs `pip install devui[litellm]`."""

import os
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from google.genai import types
from pydantic import Field, PrivateAttr

from devui.runtime.models.base_llm import BaseLlm, LlmCapabilities
from devui.runtime.models.chat_answer import ChatAnswer
from devui.runtime.models.chat_dialect import Dialect, Json
from devui.runtime.models.chat_http import ChatCompletionError
from devui.runtime.models.chat_request import chat_request
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.models.registry import PROVIDERS

# Which provider serves a litellm model, according to its name (adk-runtime 9.4).


_PROXY = "litellm_proxy"
"""The prefix for litellm's proxy server, which forwards requests to providers."""
_OPENAI = ("openai", "azure")
_SEVERAL = ("bedrock", "vertex_ai")
"""Providers that serve Claude along with other vendors' models."""
_BY_CONTENT = (*_OPENAI, "anthropic", "ollama", "ollama_chat")
"""Providers that don't fetch files by URI."""
_GEMMA_4 = re.compile(r"gemma-?4")
_PLAIN_TOOLS = (*_OPENAI, "lm_studio")
"""Providers that accept tool results in OpenAI's format for every model."""


@dataclass(frozen=True, slots=True)
class Route:
    """A parsed model name."""

    provider: str
    """The provider in lower case; empty if the name doesn't reveal it."""
    name: str
    """litellm's name for the model, without the prefix for its proxy."""
    proxied: bool
    """Whether requests go through litellm's proxy."""

    @property
    def bare(self) -> str:
        """The model's own name in lower case, without prefixes."""
        return self.name.lower().rpartition("/")[2]

    @property
    def is_claude(self) -> bool:
        """Whether the model is Claude, whoever serves it."""
        lower = self.name.lower()
        if self.provider == "bedrock" and "anthropic" in lower:
            return True
        return self.provider == "anthropic" or "claude" in lower

    @property
    def is_gemini(self) -> bool:
        """Whether the model is Gemini, whoever serves it."""
        return self.bare.startswith("gemini-")

    @property
    def is_googles_gemini(self) -> bool:
        """Whether Google serves the model, and litellm uses Gemini's native protocol."""
        return self.is_gemini and self.provider in ("gemini", "vertex_ai")

    @property
    def is_openais(self) -> bool:
        """Whether OpenAI or Azure serves the model."""
        return self.provider in _OPENAI

    @property
    def dialect(self) -> Dialect:
        """What the provider accepts in requests."""
        claudes = self.is_claude and self.provider in ("anthropic", *_SEVERAL)
        fetches = self.provider not in _BY_CONTENT
        if self.provider == "vertex_ai":
            fetches = self.is_googles_gemini
        gemma = _GEMMA_4.search(self.name.lower()) and self.provider not in _PLAIN_TOOLS
        return Dialect(
            thoughts="blocks" if claudes else "texts",
            litellms=True,
            files=fetches or self.proxied,
            geminis=self.is_googles_gemini,
            joins_texts=self.provider == "ollama_chat",
            tool_role="tool_responses" if gemma else "tool",
        )


def route(model: str, *, custom_provider: str | None = None, proxied: bool = False) -> Route:
    """Parse a model's name.

    Args:
        model: litellm's name, such as `anthropic/claude-sonnet-4` or `litellm_proxy/azure/own`.
        custom_provider: The provider, if it is given separately.
        proxied: Whether requests go through litellm's proxy, whatever the name is.
    """
    custom = (custom_provider or "").strip().lower()
    first, slash, rest = model.partition("/")
    through = first.lower() == _PROXY
    name = rest if through and "/" in rest else model
    provider = custom if custom != _PROXY else ""
    return Route(
        provider=provider or _provider(name),
        name=name,
        proxied=proxied or (through and bool(slash)) or custom == _PROXY,
    )


def _provider(name: str) -> str:
    """Return the provider before a name's slash, or the one that the name is known for."""
    first, slash, _ = name.lower().partition("/")
    if slash:
        return first
    if "azure" in first:
        return "azure"
    return "openai" if first.startswith(("gpt-", "o1")) else ""


# How much a model should think, in litellm's terms (adk-runtime 9.4).
#
# google-genai's settings are a level, a budget of tokens, or only a wish to see the thoughts.
# litellm has `thinking`, with a budget, and `reasoning_effort`, and knows which of them a model
# accepts.


_LEAST = 1024
"""Claude's smallest thinking budget, in tokens."""
_EFFORTS = {"minimal": _LEAST, "low": 1024, "medium": 2048, "high": 4096}
"""The budgets for levels, in tokens."""
_GEMINIS_LEAST = {"gemini-2.5-pro": 128, "gemini-2.5-flash-lite": 512}
_TOP_P = 0.95
"""The smallest `top_p` that Claude accepts while thinking."""
_ON = ("enabled", "adaptive")


@dataclass(frozen=True, slots=True)
class ThinkingSupport:
    """The thinking settings that a model supports."""

    name: str
    """The model's name in lower case."""
    claude: bool
    gemini: bool
    budgets: bool
    """Whether the model accepts `thinking`."""
    efforts: bool
    """Whether the model accepts `reasoning_effort`."""
    minimal: bool
    """Whether `reasoning_effort` may be `minimal`."""
    none: bool
    """Whether `reasoning_effort` may be `none`."""
    adaptive: bool
    """Whether, according to litellm, the model can decide itself how much to think."""

    @property
    def _by_level_alone(self) -> bool:
        """Whether the model is a Gemini that takes levels instead of budgets."""
        return self.gemini and "gemini-3" in self.name

    @property
    def _decides(self) -> bool:
        """Whether the model is a Claude that accepts no budget."""
        return self.claude and _is_claude(self.name, "4-7", ("opus",))

    @property
    def _may_decide(self) -> bool:
        newer = self._decides or _is_claude(self.name, "4-6", ("opus", "sonnet"))
        return self.claude and (newer or self.adaptive)

    def arguments(self, wish: types.ThinkingConfig, limit: int | None, *, has_own: bool) -> Json:
        """Return the arguments of a completion for the thinking settings.

        Args:
            wish: The settings.
            limit: The limit of output tokens, which includes thoughts.
            has_own: Whether the `LiteLlm` was created with such arguments, which stay in effect
                if the settings only ask for the thoughts.
        """
        level, budget = wish.thinking_level, wish.thinking_budget
        if level and level != types.ThinkingLevel.THINKING_LEVEL_UNSPECIFIED:
            return self._at_level(level.value.lower(), limit)
        if budget == 0:
            return self._off()
        thinking = self._with_budget(budget, limit) if budget and budget > 0 else {}
        open_still = budget is None or budget < 0
        return (
            self._for_thoughts(wish.include_thoughts, limit)
            if open_still and not has_own
            else thinking
        )

    def _at_level(self, effort: str, limit: int | None) -> Json:
        if self.claude and not self._may_decide:
            return self._claude_at_level(effort, limit)
        is_supported = effort != "minimal" or self.budgets or self.minimal
        return {"reasoning_effort": effort} if self.efforts and is_supported else {}

    def _claude_at_level(self, effort: str, limit: int | None) -> Json:
        """Ask for an effort, or for a budget if the effort would leave no tokens for the answer."""
        budget = _EFFORTS.get(effort)
        if limit is not None and limit <= _LEAST:
            return {}
        fits = limit is None or budget is None or limit > budget
        if effort != "minimal" and fits:
            return {"reasoning_effort": effort} if self.efforts else {}
        if not self.budgets:
            return {}
        most = _LEAST if limit is None or budget is None else min(budget, limit - 1)
        return _budget(most)

    def _off(self) -> Json:
        if self.budgets and not self._by_level_alone:
            if not self.gemini:
                return {"thinking": {"type": "disabled"}}
            always = "gemini-2.5-pro" in self.name
            return {} if always else _budget(0)
        can = self.efforts and (self._by_level_alone or self.none)
        return {"reasoning_effort": "none"} if can else {}

    def _with_budget(self, budget: int, limit: int | None) -> Json:
        if self.budgets and not self._by_level_alone and not self._decides:
            tokens = max(self._least(), budget)
            if not self.claude or limit is None:
                return _budget(tokens)
            return _budget(min(tokens, limit - 1)) if limit > _LEAST else {}
        if not self.efforts:
            return {}
        within = (one for one in ("low", "medium") if budget <= _EFFORTS[one])
        return {"reasoning_effort": next(within, "high")}

    def _least(self) -> int:
        if self.claude:
            return _LEAST
        minimums = (least for name, least in _GEMINIS_LEAST.items() if name in self.name)
        return next(minimums, 0) if self.gemini else 0

    def _for_thoughts(self, is_wanted: bool | None, limit: int | None) -> Json:
        """Turn thinking on if its thoughts are wanted; turn it off in Gemini if they aren't."""
        if not self.budgets or is_wanted is None:
            return {}
        if not is_wanted:
            return {"thinking": {"type": "disabled"}} if self.gemini else {}
        if self._by_level_alone:
            return {}
        if not self.claude:
            return {"thinking": {"type": "enabled"}}
        if self._decides:
            return {"thinking": {"type": "adaptive"}}
        return _budget(_LEAST) if limit is None or limit > _LEAST else {}


def without_refused(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments without the settings that Claude refuses while thinking."""
    thinking, effort = arguments.get("thinking"), arguments.get("reasoning_effort")
    on = isinstance(thinking, dict) and thinking.get("type") in _ON
    if not on and effort in (None, "none"):
        return arguments
    remaining = {key: value for key, value in arguments.items() if key != "top_k"}
    if remaining.get("temperature") != 1:
        remaining.pop("temperature", None)
    if remaining.get("top_p") is not None and remaining["top_p"] < _TOP_P:
        del remaining["top_p"]
    return remaining


def _budget(tokens: int) -> Json:
    return {"thinking": {"type": "enabled", "budget_tokens": tokens}}


def _is_claude(name: str, version: str, sizes: tuple[str, ...]) -> bool:
    """Return whether a name has this version and one of these sizes, whatever its separators."""
    plain = name.replace("_", "-").replace(".", "-")
    return any(f"{size}-{version}" in plain for size in sizes)


try:
    # Without these, importing litellm reads a .env file of its own choice and downloads a list
    # of prices.
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm
except ImportError as error:
    raise ImportError(
        "LiteLlm needs the package litellm: pip install 'devui[litellm]'. For a service that"
        " speaks OpenAI's chat completions, OpenAILlm(base_url=...) works without it."
    ) from error

_OURS = ("llm_client", "messages", "tools", "stream")
"""Arguments of a completion that only the runtime sets."""
_INSTEAD = {
    "max_completion_tokens": "max_tokens",
    "thinking": "reasoning_effort",
    "reasoning_effort": "thinking",
}
"""Arguments of a request, and the constructor's equivalents that they replace."""
_MILLISECONDS = 1000
_TEXT_LENGTH = 500
"""How many characters of an invalid answer an error message quotes."""
_HOUR = 3600
"""The longer of Claude's two cache lifetimes, in seconds."""


def knows_provider(name: str) -> bool:
    """Return whether litellm has models whose names begin with `name/` (adk-runtime 9.2)."""
    return name in litellm.provider_list


class LiteLLMClient:
    """Calls litellm. Give a `LiteLlm` a subclass of it to inspect or change the calls."""

    async def acompletion(
        self, model: str, messages: list[Json], tools: list[Json] | None, **kwargs: Any
    ) -> Any:
        """Return litellm's answer or, with `stream=True`, an async iterator of its chunks."""
        # Tools are described in the prompt of a model without tool support.
        litellm.add_function_to_prompt = True
        return await litellm.acompletion(model=model, messages=messages, tools=tools, **kwargs)


class LiteLlm(BaseLlm):
    """A model by litellm's name, such as `openai/gpt-4o` or `ollama_chat/llama3`.

    Further keyword arguments, such as `api_base`, `api_key` or `drop_params`, go into every call.
    """

    llm_client: LiteLLMClient = Field(default_factory=LiteLLMClient, exclude=True)
    """The client that calls litellm."""

    _additional_args: dict[str, Any] = PrivateAttr(default_factory=dict)
    """Arguments for every call; subclasses read and change them."""

    def __init__(self, model: str, **kwargs: Any) -> None:
        """Set the model's name, and the arguments for every call."""
        own = {"llm_client": kwargs["llm_client"]} if "llm_client" in kwargs else {}
        super().__init__(model=model, **own)
        self._additional_args = {key: value for key, value in kwargs.items() if key not in _OURS}

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return patterns of the names that begin with a well-known provider."""
        return [rf"{provider}/.*" for provider in PROVIDERS]

    @property
    def capabilities(self) -> LlmCapabilities:
        """What the model supports, according to litellm.

        Claude, and Gemini outside Vertex AI, get an output schema as a tool instead: litellm
        sends them schemas in a way that keeps them from calling other tools.
        """
        way = _way(self, self.model)
        if way.is_gemini and way.provider != "vertex_ai":
            return LlmCapabilities()
        if way.is_claude and not way.is_openais:
            return LlmCapabilities()
        is_supported = litellm.supports_response_schema(
            way.name, custom_llm_provider=way.provider or None
        )
        own = way.is_openais and _facts(way) is None  # a deployment with a custom name
        return LlmCapabilities(output_schema_and_tools=bool(is_supported or own))

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Ask through litellm, whose exceptions pass through.

        Raises:
            ChatCompletionError: the service's response contains no answer.
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
            document = completion.model_dump()
            if not document.get("choices"):
                raise _no_answer(arguments["model"], str(document)[:_TEXT_LENGTH])
            answer.add_whole(document)
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
        # litellm turns a response that it can't read, such as a web page, into an empty answer
        # that seems to have ended normally; the sign of it is that there are no chunks.
        if isinstance(chunks, litellm.CustomStreamWrapper) and not chunks.chunks:
            response_headers = chunks._hidden_params.get("additional_headers") or {}
            media = response_headers.get("llm_provider-content-type", "data without a content type")
            raise _no_answer(arguments["model"], media)
        yield answer.whole()


def _no_answer(model: str, body: str) -> ChatCompletionError:
    return ChatCompletionError(
        0, f"The service for {model} returned no answer. It sent: {body}. Check api_base."
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
    args = llm._additional_args
    limit: int | None = args.get("max_completion_tokens", args.get("max_tokens"))
    return limit


def _call(llm: LiteLlm, llm_request: LlmRequest) -> dict[str, Any]:
    """Return the arguments of a completion; settings of the request override the constructor's."""
    config = llm_request.config
    model = llm_request.model or llm.model
    way = _way(llm, model)
    request = chat_request(llm_request, model, way.dialect)
    if config.max_output_tokens:
        request["max_completion_tokens"] = config.max_output_tokens
    if config.top_k is not None:
        request["top_k"] = config.top_k
    if config.thinking_config:
        limit = config.max_output_tokens or _limit(llm)
        has_own = any(map(llm._additional_args.get, ("thinking", "reasoning_effort")))
        request |= _thinker(way).arguments(config.thinking_config, limit, has_own=has_own)
    obsolete = [other for name, other in _INSTEAD.items() if name in request]
    own_args = {key: value for key, value in llm._additional_args.items() if key not in obsolete}
    arguments = {"tools": None, **_marks(llm_request), **own_args, **request}
    if "functions" in arguments:  # the older form of tools, which excludes the newer
        arguments["tools"] = None
        arguments.pop("tool_choice", None)
    if config.http_options:
        arguments |= _over_http(config.http_options, arguments.get("extra_headers"))
    return without_refused(arguments) if way.is_claude else arguments


def _over_http(options: types.HttpOptions, headers: Any) -> dict[str, Any]:
    """Convert the settings of the HTTP request."""
    arguments: dict[str, Any] = {}
    if options.headers:
        arguments["extra_headers"] = {**(headers or {}), **options.headers}
    if options.timeout:
        arguments["timeout"] = options.timeout / _MILLISECONDS
    if options.retry_options and options.retry_options.attempts is not None:
        arguments["num_retries"] = options.retry_options.attempts
    if options.extra_body is not None:
        arguments["extra_body"] = options.extra_body
    return arguments


def _marks(llm_request: LlmRequest) -> dict[str, Any]:
    """Mark up to where the service may cache a request, by the app's settings (adk-runtime 3.1).

    There is one mark at the instruction, and one at the latest message. litellm leaves them out
    for services that don't need them.
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
    """A stream that holds a connection."""

    async def aclose(self) -> None:
        """Release the connection."""


@asynccontextmanager
async def _hung_up(chunks: Any) -> AsyncIterator[None]:
    """Close a stream's connection, even if its reader stops before the end."""
    try:
        yield
    finally:
        if isinstance(chunks, _Line):
            await chunks.aclose()


def _thinker(way: Route) -> ThinkingSupport:
    """Return the thinking settings that a model supports, according to litellm."""
    custom = way.provider or None
    takes: Any = ()
    if litellm.supports_reasoning(way.name, custom_llm_provider=custom):
        takes = litellm.get_supported_openai_params(way.name, custom_llm_provider=custom) or ()
    facts = (takes and _facts(way)) or {}
    return ThinkingSupport(
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
    """Return litellm's description of a model, or None if litellm doesn't know the model."""
    try:
        return litellm.get_model_info(way.name, custom_llm_provider=way.provider or None)
    except Exception:  # noqa: BLE001  all that litellm raises for unknown models
        return None
