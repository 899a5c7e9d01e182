"""The tools of the travel agents. The timetable is made up, the airports are real."""

from typing import Any

from google.genai import types

from devui.runtime.tools import ToolContext, has_effects, idempotent, read_only

AIRPORTS = {
    "London": ["LHR", "LGW", "STN"],
    "Paris": ["CDG", "ORY", "BVA"],
    "New York": ["JFK", "EWR", "LGA"],
    "Tokyo": ["HND", "NRT"],
    "Berlin": ["BER"],
    "Madrid": ["MAD"],
    "Zurich": ["ZRH"],
}
DEPARTURES = [
    {"flight": "DV 318", "leaves": "07:15", "arrives": "08:05", "price": 184},
    {"flight": "DV 326", "leaves": "12:40", "arrives": "13:30", "price": 129},
    {"flight": "DV 338", "leaves": "18:55", "arrives": "19:45", "price": 156},
]


@read_only
def find_airports(city: str, tool_context: ToolContext) -> list[str]:
    """Find the airports of a city.

    Args:
        city: Name of the city in English.

    Returns:
        IATA codes, the largest airport first; empty when the city is not known.
    """
    name = next((each for each in AIRPORTS if each.lower() == city.strip().lower()), city)
    airports = AIRPORTS.get(name, [])
    state = tool_context.state
    state["city"] = name
    state["airports"] = airports
    state["temp:asked_for"] = city
    state["app:lookups"] = state.get("app:lookups", 0) + 1
    print(f"{name}: {', '.join(airports) or 'no airport known'}")
    return airports


@read_only
def search_flights(airport: str, day: str, tool_context: ToolContext) -> dict[str, Any]:
    """Search flights from the traveller's home airport.

    Args:
        airport: IATA code of the destination.
        day: The day of travel, as the user said it.
    """
    state = tool_context.state
    home = state.get("user:home_airport", "ZRH")
    cheapest = min(DEPARTURES, key=lambda departure: int(str(departure["price"])))
    state["user:home_airport"] = home
    state["user:searches"] = state.get("user:searches", 0) + 1
    state["trip"] = {"from": home, "to": airport, "day": day or "any day", "booked": False}
    state["temp:cheapest"] = cheapest["flight"]
    return {"from": home, "to": airport, "flights": DEPARTURES, "cheapest": cheapest}


@idempotent
async def save_itinerary(tool_context: ToolContext) -> dict[str, Any]:
    """Write the found flights to a file for the user."""
    trip = tool_context.state["trip"]
    lines = [f"{trip['from']} - {trip['to']}, {trip['day']}", ""]
    lines += [
        f"{departure['flight']}  {departure['leaves']} - {departure['arrives']}"
        f"  EUR {departure['price']}"
        for departure in DEPARTURES
    ]
    text = "\n".join(lines) + "\n"
    part = types.Part.from_bytes(data=text.encode(), mime_type="text/plain")
    version = await tool_context.save_artifact("itinerary.txt", part)
    return {"file": "itinerary.txt", "version": version, "trip": trip, "flights": DEPARTURES}


@idempotent
def remember_home(city: str, tool_context: ToolContext) -> dict[str, Any]:
    """Remember the user's home city for this and later trips.

    Args:
        city: Name of the user's city.
    """
    airports = AIRPORTS.get(city.title(), [])
    if not airports:
        return {"status": "error", "message": f"No airport is known for {city}."}
    tool_context.state["user:home_airport"] = airports[0]
    return {"status": "ok", "message": f"Your flights leave from {airports[0]} from now on."}


@has_effects
def book_flight(tool_context: ToolContext) -> dict[str, Any]:
    """Book the cheapest of the found flights."""
    trip = tool_context.state.get("trip")
    if trip is None:
        return {"status": "error", "message": "There is no flight to book: search for one first."}
    flight = DEPARTURES[1]["flight"]
    tool_context.state["trip"] = {**trip, "booked": True, "flight": flight}
    return {"status": "ok", "message": f"**{flight}** to {trip['to']}, {trip['day']}, is booked."}


@has_effects
def take_payment(tool_context: ToolContext) -> dict[str, Any]:
    """Charge the user's card for the booked flight."""
    trip = tool_context.state.get("trip")
    if trip is None or not trip["booked"]:
        return {"status": "error", "message": "There is nothing to pay: no flight is booked."}
    price = DEPARTURES[1]["price"]
    tool_context.state["paid"] = price
    return {"status": "ok", "message": f"EUR {price} paid for {trip['flight']}. Have a good trip!"}
