"""`LLMRegistry`: finds the class for a model's name (adk-runtime 9.2)."""

import re
from typing import cast

from devui.runtime.exports import lazy
from devui.runtime.models.base_llm import BaseLlm
from devui.runtime.models.google_llm import Gemini
from devui.runtime.models.openai_llm import OpenAILlm

# Providers whose models `LiteLlm` serves under the name `provider/model` (adk-runtime 9.2).


PROVIDERS = (
    "openai",
    "azure",
    "azure_ai",
    "groq",
    "anthropic",
    "bedrock",
    "ollama",
    "ollama_chat",
    "together_ai",
    "vertex_ai",
    "mistral",
    "deepseek",
    "fireworks_ai",
    "cohere",
    "databricks",
    "ai21",
)


_classes: dict[str, type[BaseLlm]] = {
    pattern: llm_cls for llm_cls in (Gemini, OpenAILlm) for pattern in llm_cls.supported_models()
}
_load_optional = lazy("devui.runtime.models", {"LiteLlm": "lite_llm", "knows_provider": "lite_llm"})


class LLMRegistry:
    """Maps patterns of model names to model classes."""

    @staticmethod
    def register(llm_cls: type[BaseLlm]) -> None:
        """Use a class for every name that its `supported_models` match.

        Later registrations take precedence.
        """
        for pattern in llm_cls.supported_models():
            _classes.pop(pattern, None)
            _classes[pattern] = llm_cls

    @staticmethod
    def resolve(model: str) -> type[BaseLlm]:
        """Return the class for a model's name, or for `Class:name`.

        Raises:
            ValueError: no class matches.
            ImportError: the provider needs litellm, which isn't installed.
        """
        return _find(model)[0]

    @staticmethod
    def new_llm(model: str) -> BaseLlm:
        """Create a model object for a name, or for `Class:name`.

        Raises:
            ValueError: no class matches.
        """
        llm_cls, name = _find(model)
        return llm_cls(model=name)


def _find(model: str) -> tuple[type[BaseLlm], str]:
    prefix, colon, rest = model.partition(":")
    for pattern, llm_cls in reversed(_classes.items()):
        if colon and prefix.lower() in _names(llm_cls):
            return llm_cls, rest
        if re.fullmatch(pattern, model):
            return llm_cls, model
    if prefix.lower() == "litellm" and colon:
        return _lite_llm(), rest
    provider, slash, _ = model.partition("/")
    if provider in PROVIDERS or (slash and _is_known_to_litellm(provider)):
        return _lite_llm(), model
    classes = sorted({f"{llm_cls.__name__} ({pattern})" for pattern, llm_cls in _classes.items()})
    raise ValueError(
        f"No model class is registered for {model!r}. Known: {', '.join(classes)}; with"
        " devui[litellm], also other providers' models, such as anthropic/claude-sonnet-4-5."
        " Check the name, pass a BaseLlm object as Agent(model=...), or register a class"
        " for such names with LLMRegistry.register(YourLlm)."
    )


def _is_known_to_litellm(provider: str) -> bool:
    """Return whether litellm has that provider; False if litellm isn't installed."""
    try:
        return bool(_load_optional("knows_provider")(provider))
    except ImportError:
        return False


def _lite_llm() -> type[BaseLlm]:
    """Import the class on demand: it needs an optional package, and the import takes seconds."""
    return cast("type[BaseLlm]", _load_optional("LiteLlm"))


def _names(llm_cls: type[BaseLlm]) -> tuple[str, str]:
    """Return the prefixes that select a class: its name with and without `Llm`."""
    name = llm_cls.__name__.lower()
    return name, name.removesuffix("llm")
