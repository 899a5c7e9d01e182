import re

from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class ExpensesModel(BaseLlm):
    """Reimburses the first number of the message, then says how that went."""

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            result = last.function_response.response
            part = types.Part(
                text=f"{result.get('amount', 0)} euros are {result.get('status', 'refused')}."
            )
        else:
            amount = int(re.search(r"\d+", last.text or "0").group())
            part = types.Part.from_function_call(name="reimburse", args={"amount": amount})
        yield LlmResponse(content=types.Content(role="model", parts=[part]))
