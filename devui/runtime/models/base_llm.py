"""The model seam: one method that answers a request with a stream of responses.

See adk-runtime 9.1.
"""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary

from google.genai import types
from pydantic import BaseModel, ConfigDict

from devui.runtime.mistakes import Declared, Spelt
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse

# The clients that a model has made, one for each event loop (adk-runtime 9.3).


Client = TypeVar("Client")


class Clients(WeakKeyDictionary[asyncio.AbstractEventLoop, Client]):
    """Clients by the event loop that their connections belong to (adk-runtime 9.3).

    A copy is empty: connections cannot be copied, and a copy of the model makes its own.
    """

    def __deepcopy__(self, memo: Any) -> Self:
        return type(self)()

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()


START_HINT = "Do what your instructions say."
"""What a user says who has said nothing."""
_CONTINUE_HINT = "Go on with what you were doing, or sum up if there is nothing left to do."


class LlmCapabilities(BaseModel):
    """The capabilities a model reports about itself (adk-runtime 9.1)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    output_schema_and_tools: bool = False
    """Whether one request may carry both an output schema and tools."""


class BaseLlm(Declared, Spelt):
    """A model. One instance may serve concurrent calls from several agents and sessions."""

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
