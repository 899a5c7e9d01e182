"""`LLMRegistry`: from a model's name to the class that speaks to it (adk-runtime 9.2)."""

import re
from typing import cast

from devui.runtime.exports import lazy
from devui.runtime.models.base_llm import BaseLlm
from devui.runtime.models.google_llm import Gemini
from devui.runtime.models.openai_llm import OpenAILlm

# Providers whose models litellm reaches by the name `provider/model` (adk-runtime 9.2).


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

        What is registered later is asked first.
        """
        for pattern in llm_cls.supported_models():
            _classes.pop(pattern, None)
            _classes[pattern] = llm_cls

    @staticmethod
    def resolve(model: str) -> type[BaseLlm]:
        """The class for a model's name, or for `Class:name`.

        Raises:
            ValueError: no class matches.
            ImportError: the name is of a provider that needs litellm, which is not installed.
        """
        return _find(model)[0]

    @staticmethod
    def new_llm(model: str) -> BaseLlm:
        """A new model object for a name, or for `Class:name`.

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
        f"No model class is registered for {model!r}. Known: {', '.join(classes)}; and, with"
        " devui[litellm], models of others by names such as anthropic/claude-sonnet-4-5."
        " Check the name, pass a BaseLlm object as Agent(model=...), or register a class"
        " for such names with LLMRegistry.register(YourLlm)."
    )


def _is_known_to_litellm(provider: str) -> bool:
    """Whether litellm reaches models of that provider; False if it is not installed."""
    try:
        return bool(_load_optional("knows_provider")(provider))
    except ImportError:
        return False


def _lite_llm() -> type[BaseLlm]:
    """The class that needs an optional package, and seconds to be imported."""
    return cast("type[BaseLlm]", _load_optional("LiteLlm"))


def _names(llm_cls: type[BaseLlm]) -> tuple[str, str]:
    """The names a class goes by as a prefix: with and without `Llm`."""
    name = llm_cls.__name__.lower()
    return name, name.removesuffix("llm")
