from google import adk

from ..models import Specialist

hotels_agent = adk.Agent(
    name="hotels_agent",
    model=Specialist(model="specialist", answer="Hotels have rooms left."),
    description="Knows all about hotels.",
)
