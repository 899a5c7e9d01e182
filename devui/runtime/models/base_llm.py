"""The model seam: one method that answers a request with a stream of responses.

See adk-runtime 9.1.
"""

from abc import abstractmethod
from collections.abc import AsyncGenerator

from google.genai import types
from pydantic import BaseModel, ConfigDict

from devui.runtime.declared import Declared
from devui.runtime.ignored import Spelt
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse

START_HINT = "Do what your instructions say."
"""What a user says who has said nothing."""
_CONTINUE_HINT = "Go on with what you were doing, or sum up if there is nothing left to do."


class LlmCapabilities(BaseModel):
    """What a model can do, as the model itself reports it (adk-runtime 9.1)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    output_schema_and_tools: bool = False
    """Whether one request may carry both an output schema and tools."""


class BaseLlm(Declared, Spelt):
    """A model. One instance may serve concurrent calls of several agents and sessions."""

    model_config = ConfigDict(arbitrary_types_allowed=True, defer_build=True)

    model: str
    """The model's name, for example `gemini-2.5-flash`."""

    @property
    def capabilities(self) -> LlmCapabilities:
        """What this model can do; subclasses override it to declare more."""
        return LlmCapabilities()

    @classmethod
    def supported_models(cls) -> list[str]:
        """Regular expressions that the full names of this class's models match."""
        return []

    @abstractmethod
    def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer one request.

        Without `stream`: exactly one response. With `stream`: fragments with
        `partial=True`, then one response without it that holds everything
        (adk-runtime 7.7). Implement it as an `async def` with `yield`.
        """

    def _maybe_append_user_content(self, llm_request: LlmRequest) -> None:
        """End the contents with a user turn, without which some models answer nothing."""
        contents = llm_request.contents
        if contents and contents[-1].role == "user":
            return
        hint = _CONTINUE_HINT if contents else START_HINT
        contents.append(types.Content(role="user", parts=[types.Part(text=hint)]))
