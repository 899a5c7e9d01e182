"""Who answers a model of litellm: what its name tells (adk-runtime 9.4)."""

import re
from dataclasses import dataclass

from devui.runtime.models.chat_dialect import Dialect

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
            joined=self.provider == "ollama_chat",
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
