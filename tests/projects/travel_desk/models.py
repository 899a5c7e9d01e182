import os
from collections.abc import AsyncGenerator

from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types


class Dispatcher(BaseLlm):
    """Transfers to the specialist for flights, or for hotels."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        question = llm_request.contents[-1].parts[-1].text or ""
        name = "hotels_agent" if "hotel" in question else "flights_agent"
        call = types.Part.from_function_call(name="transfer_to_agent", args={"agent_name": name})
        yield LlmResponse(content=types.Content(role="model", parts=[call]))


class Specialist(BaseLlm):
    """Says one sentence, and the language that the `.env` file asks for."""

    answer: str

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        text = f"{self.answer} ({os.environ['TRAVEL_DESK_LANGUAGE']})"
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))
