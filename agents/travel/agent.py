"""TravelAgent looks up flights; BookingAgent and BillingAgent take over for the booking.

Without a key, the agents follow the script in `script.py`. With GOOGLE_API_KEY set, they use the
Gemini model named by DEVUI_MODEL.
"""

import os

from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import ScriptedLlm

from . import script, tools

GEMINI = os.environ.get("DEVUI_MODEL") if os.environ.get("GOOGLE_API_KEY") else None

billing_agent = Agent(
    name="BillingAgent",
    description="Takes the payment for a booked flight.",
    model=GEMINI or ScriptedLlm(model="scripted-billing", rules=script.BILLING),
    instruction="Take the payment with take_payment. Pass anything else on to TravelAgent.",
    tools=[tools.take_payment],
)

booking_agent = Agent(
    name="BookingAgent",
    description="Books a flight.",
    model=GEMINI or ScriptedLlm(model="scripted-booking", rules=script.BOOKING),
    instruction=(
        "Book with book_flight. When the user wants to pay, hand over to BillingAgent."
        " Pass anything else on to TravelAgent."
    ),
    tools=[tools.book_flight],
)

root_agent = Agent(
    name="TravelAgent",
    description="Finds airports and flights, and writes itineraries.",
    model=GEMINI or ScriptedLlm(model="scripted-travel", rules=script.TRAVEL),
    instruction=(
        "You help travellers from {user:home_airport?}. For a flight: find the airports of the"
        " city, search flights to the first of them, save the itinerary, then show the flights"
        " in a table. Hand over to BookingAgent when the user wants to book what was found."
    ),
    tools=[
        tools.find_airports,
        tools.search_flights,
        tools.save_itinerary,
        tools.remember_home,
    ],
    sub_agents=[booking_agent, billing_agent],
)
