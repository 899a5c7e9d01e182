"""Models: what answers an agent's requests."""

from devui.runtime.models.base_llm import BaseLlm, LlmCapabilities
from devui.runtime.models.google_llm import Gemini
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse
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
    "Rule",
    "Say",
    "ScriptError",
    "ScriptedLlm",
]
