"""`BaseLlm`, the interface of models: one method that streams the responses to a request.

See adk-runtime 9.1.
"""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncGenerator
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary

from google.genai import types
from pydantic import BaseModel, ConfigDict

from devui.runtime.mistakes import ExplainedModel, SpellCheckedModel
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.models.llm_response import LlmResponse

Client = TypeVar("Client")


class Clients(WeakKeyDictionary[asyncio.AbstractEventLoop, Client]):
    """A model's clients, by the event loop that their connections belong to (adk-runtime 9.3).

    Copies are empty: connections can't be copied, so a copied model creates its own clients.
    """

    def __deepcopy__(self, memo: Any) -> Self:
        return type(self)()

    def __reduce__(self) -> tuple[type[Self], tuple[()]]:
        return type(self), ()


START_HINT = "Do what your instructions say."
"""Stands in for the user's message if a request has none."""
_CONTINUE_HINT = "Go on with what you were doing, or sum up if there is nothing left to do."


class LlmCapabilities(BaseModel):
    """The capabilities a model reports about itself (adk-runtime 9.1)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    output_schema_and_tools: bool = False
    """Whether one request may carry both an output schema and tools."""


class BaseLlm(ExplainedModel, SpellCheckedModel):
    """A model. One instance may serve concurrent calls from several agents and sessions."""

    model_config = ConfigDict(arbitrary_types_allowed=True, defer_build=True)

    model: str
    """The model's name, for example `gemini-2.5-flash`."""

    @property
    def capabilities(self) -> LlmCapabilities:
        """What the model supports; override to declare more."""
        return LlmCapabilities()

    @classmethod
    def supported_models(cls) -> list[str]:
        """Return patterns of the model names that this class serves; each matches a full name."""
        return []

    @abstractmethod
    def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer one request.

        Without `stream`, yield exactly one response. With `stream`, yield fragments with
        `partial=True`, then the complete response without it (adk-runtime 7.7). Implement
        this method as an `async def` with `yield`.
        """

    def _maybe_append_user_content(self, llm_request: LlmRequest) -> None:
        """Append a user turn unless the contents end with one: some models need it to answer."""
        contents = llm_request.contents
        if contents and contents[-1].role == "user":
            return
        hint = _CONTINUE_HINT if contents else START_HINT
        contents.append(types.Content(role="user", parts=[types.Part(text=hint)]))
