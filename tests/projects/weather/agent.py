from google.adk.agents import Agent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class WeatherModel(BaseLlm):
    """Calls the tool for the city named last, then says what it returned."""

    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[-1]
        if last.function_response:
            report = last.function_response.response["report"]
            part = types.Part(text=f"The forecast: {report}")
        else:
            city = (last.text or "Paris").split()[-1].strip("?.")
            part = types.Part.from_function_call(name="get_weather", args={"city": city})
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def get_weather(city: str) -> dict:
    """Returns the weather report of a city.

    Args:
        city: The name of the city.
    """
    return {"status": "success", "report": f"sunny in {city}"}


root_agent = Agent(
    name="weather_agent",
    model=WeatherModel(model="weather-model"),
    description="Answers questions about the weather.",
    instruction="Call get_weather for the city that the user names.",
    tools=[get_weather],
)
