from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.llm_agent import LlmAgent

from ..models import Specialist


async def _count(callback_context: CallbackContext) -> None:
    callback_context.state["flights_asked"] = callback_context.state.get("flights_asked", 0) + 1


flights_agent = LlmAgent(
    name="flights_agent",
    model=Specialist(model="specialist", answer="Flights leave at nine."),
    description="Knows all about flights.",
    before_agent_callback=_count,
)
