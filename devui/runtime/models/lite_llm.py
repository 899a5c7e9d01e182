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

# Who answers a model of litellm: what its name tells (adk-runtime 9.4).


_PROXY = "litellm_proxy"
"""The provider that is a way: a server of litellm's, which hands requests on."""
_OPENAI = ("openai", "azure")
_SEVERAL = ("bedrock", "vertex_ai")
"""Providers that have Claude beside models of others."""
_BY_CONTENT = (*_OPENAI, "anthropic", "ollama", "ollama_chat")
"""Providers that fetch no files by their address."""
_GEMMA_4 = re.compile(r"gemma-?4")
_PLAIN_TOOLS = (*_OPENAI, "lm_studio")
"""Providers that take results of tools in OpenAI's way whatever the model is."""


@dataclass(frozen=True, slots=True)
class Route:
    """A model's name, taken apart."""

    provider: str
    """The provider, in lower case; empty if nothing tells it."""
    name: str
    """litellm's name, without the way through a proxy."""
    proxied: bool
    """Whether a proxy of litellm's stands between."""

    @property
    def bare(self) -> str:
        """The model's own name in lower case."""
        return self.name.lower().rpartition("/")[2]

    @property
    def is_claude(self) -> bool:
        """Whether Claude answers, whoever serves it."""
        lower = self.name.lower()
        if self.provider == "bedrock" and "anthropic" in lower:
            return True
        return self.provider == "anthropic" or "claude" in lower

    @property
    def is_gemini(self) -> bool:
        """Whether Gemini answers, whoever serves it."""
        return self.bare.startswith("gemini-")

    @property
    def is_googles_gemini(self) -> bool:
        """Whether Google serves it, so that litellm speaks Gemini's own protocol."""
        return self.is_gemini and self.provider in ("gemini", "vertex_ai")

    @property
    def is_openais(self) -> bool:
        """Whether OpenAI's own service answers, or Azure's copy of it."""
        return self.provider in _OPENAI

    @property
    def dialect(self) -> Dialect:
        """How conversations with it are written."""
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
    """The way to a model.

    Args:
        model: litellm's name, such as `anthropic/claude-sonnet-4` or `litellm_proxy/azure/own`.
        custom_provider: The provider, where it is said beside the name.
        proxied: Whether all goes through a proxy of litellm's, whatever the name is.
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
    """The provider that a name has before its slash, or that it is known for."""
    first, slash, _ = name.lower().partition("/")
    if slash:
        return first
    if "azure" in first:
        return "azure"
    return "openai" if first.startswith(("gpt-", "o1")) else ""


# How much a model shall think, in litellm's words (adk-runtime 9.4).
#
# google-genai asks by a level, by a budget of tokens, or only to see the thoughts. litellm hands
# on `thinking`, with a budget, and `reasoning_effort`; which of them a model takes, it knows
# itself.


_LEAST = 1024
"""The smallest budget of Claude."""
_EFFORTS = {"minimal": _LEAST, "low": 1024, "medium": 2048, "high": 4096}
"""What levels cost where they are budgets."""
_GEMINIS_LEAST = {"gemini-2.5-pro": 128, "gemini-2.5-flash-lite": 512}
_TOP_P = 0.95
"""The smallest share of tokens that Claude takes while it thinks."""
_ON = ("enabled", "adaptive")


@dataclass(frozen=True, slots=True)
class Thinker:
    """What a model can be told about thinking."""

    name: str
    """Its name in lower case."""
    claude: bool
    gemini: bool
    budgets: bool
    """Whether it takes `thinking`."""
    efforts: bool
    """Whether it takes `reasoning_effort`."""
    minimal: bool
    """Whether that may be `minimal`."""
    none: bool
    """Whether that may be `none`."""
    adaptive: bool
    """Whether litellm has it as a Claude that decides itself how much it thinks."""

    @property
    def _by_level_alone(self) -> bool:
        """Whether it is a Gemini whose budgets have become levels."""
        return self.gemini and "gemini-3" in self.name

    @property
    def _decides(self) -> bool:
        """Whether it is a Claude that takes no budget."""
        return self.claude and _is_claude(self.name, "4-7", ("opus",))

    @property
    def _may_decide(self) -> bool:
        newer = self._decides or _is_claude(self.name, "4-6", ("opus", "sonnet"))
        return self.claude and (newer or self.adaptive)

    def arguments(self, wish: types.ThinkingConfig, limit: int | None, *, has_own: bool) -> Json:
        """Arguments of a completion that ask for what the settings wish.

        Args:
            wish: The settings.
            limit: The most tokens of the answer, of which thoughts are a part.
            has_own: Whether the model's object was made with such arguments, which stay where the
                settings only want the thoughts to be shown.
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
        """As an effort, or where that would leave no token for the answer, as a budget."""
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
        """Thinking for the sake of its thoughts; Gemini is told not to when nobody wants them."""
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
    """The arguments without settings that Claude refuses while it thinks."""
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
    """Whether a name is that of this version in one of these sizes, however it is written."""
    plain = name.replace("_", "-").replace(".", "-")
    return any(f"{size}-{version}" in plain for size in sizes)


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
_TEXT_LENGTH = 500
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
        is_supported = litellm.supports_response_schema(
            way.name, custom_llm_provider=way.provider or None
        )
        own = way.is_openais and _facts(way) is None  # a deployment under a name of somebody's own
        return LlmCapabilities(output_schema_and_tools=bool(is_supported or own))

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
        # Of what it cannot read, such as a page, litellm makes an answer that says nothing and ends
        # well; then it has kept no chunk of the service's.
        if isinstance(chunks, litellm.CustomStreamWrapper) and not chunks.chunks:
            response_headers = chunks._hidden_params.get("additional_headers") or {}
            media = response_headers.get("llm_provider-content-type", "nothing of any type")
            raise _no_answer(arguments["model"], media)
        yield answer.whole()


def _no_answer(model: str, body: str) -> ChatCompletionError:
    return ChatCompletionError(
        0, f"The service of {model} gave no answer, but sent: {body}. Is api_base right?"
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
    """Settings of the request win over those given at construction."""
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
    if "functions" in arguments:  # the older form of tools, beside which no other may be
        arguments["tools"] = None
        arguments.pop("tool_choice", None)
    if config.http_options:
        arguments |= _over_http(config.http_options, arguments.get("extra_headers"))
    return without_refused(arguments) if way.is_claude else arguments


def _over_http(options: types.HttpOptions, headers: Any) -> dict[str, Any]:
    """What the settings say about the request itself."""
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
