"""The models that answer agents' requests."""

from devui.runtime.exports import lazy
from devui.runtime.models.base_llm import BaseLlm, LlmCapabilities
from devui.runtime.models.google_llm import Gemini
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse
from devui.runtime.models.openai_llm import OpenAILlm
from devui.runtime.models.registry import LLMRegistry
from devui.runtime.models.scripted_llm import Call, Fail, Rule, Say, ScriptedLlm, ScriptError

__all__ = [
    "BaseLlm",
    "Call",
    "Fail",
    "Gemini",
    "LLMRegistry",
    "LlmCapabilities",
    "LlmRequest",
    "LlmResponse",
    "OpenAILlm",
    "Rule",
    "Say",
    "ScriptError",
    "ScriptedLlm",
]

__getattr__ = lazy(__name__, {"FallbackModel": "fallback_model", "LiteLlm": "lite_llm"})
