from google.adk.agents import LlmAgent

from .models import Dispatcher
from .specialists import flights_agent, hotels_agent

root_agent = LlmAgent(
    name="travel_desk",
    model=Dispatcher(model="dispatcher"),
    description="Hands each question to a specialist.",
    instruction="Transfer to the agent that knows.",
    sub_agents=[flights_agent, hotels_agent],
)
