"""The scripted answers of the travel agents."""

from devui.runtime.models.scripted_llm import Call, Rule, Say

from .tools import AIRPORTS

CITY = f"(?P<city>{'|'.join(AIRPORTS)})"
FLIGHT = rf"\b(?:flight|fly|go|trip|travel)\b.*\bto {CITY}\b\s*(?P<day>[^.!?]*)"
AIRPORT = rf"\bairports?\b.*\b{CITY}\b"
HOME = rf"\b(?:live in|home is)\b\s*{CITY}\b"
BOOK = r"\b(?:book|take) it\b"
PAY = r"\bpay\b"

OFFER = """\
I found **three flights** from {result.trip.from} to {result.trip.to}, {result.trip.day}:

| Flight | Leaves | Arrives | Price |
|---|---|---|--:|
| {result.flights.0.flight} | {result.flights.0.leaves} | {result.flights.0.arrives} \
| € {result.flights.0.price} |
| {result.flights.1.flight} | {result.flights.1.leaves} | {result.flights.1.arrives} \
| € {result.flights.1.price} |
| {result.flights.2.flight} | {result.flights.2.leaves} | {result.flights.2.arrives} \
| € {result.flights.2.price} |

The cheapest is **{result.flights.1.flight}**. I saved them all in `{result.file}`.
Say *book it* and my colleague takes over.
"""

TRAVEL = [
    Rule(after="save_itinerary", then=Say(OFFER, chunks=20, delay=0.04)),
    Rule(after="search_flights", then=Call("save_itinerary")),
    Rule(
        user=FLIGHT,
        after="find_airports",
        then=Call("search_flights", airport="{result.0}", day="{day}"),
    ),
    Rule(
        user=AIRPORT,
        after="find_airports",
        then=Say("The airports of {city}: {result}.", chunks=6, delay=0.04),
    ),
    Rule(after="remember_home", then=Say("{result.message}", chunks=6, delay=0.04)),
    Rule(user=BOOK, then=Call("transfer_to_agent", agent_name="BookingAgent")),
    Rule(user=PAY, then=Call("transfer_to_agent", agent_name="BillingAgent")),
    Rule(
        user=FLIGHT,
        then=[
            Say("Let me check which airports {city} has.", chunks=4, delay=0.04),
            Call("find_airports", city="{city}"),
        ],
    ),
    Rule(user=AIRPORT, then=Call("find_airports", city="{city}")),
    Rule(user=HOME, then=Call("remember_home", city="{city}")),
    Rule(
        then=Say(
            f"Tell me where you want to go. I know {', '.join(AIRPORTS)}.", chunks=6, delay=0.04
        )
    ),
]

BOOKING = [
    Rule(
        user=PAY,
        after="book_flight",
        then=[
            Say("{result.message} Now for the payment.", chunks=4, delay=0.04),
            Call("transfer_to_agent", agent_name="BillingAgent"),
        ],
    ),
    Rule(after="book_flight", then=Say("{result.message}", chunks=6, delay=0.04)),
    Rule(user=BOOK, then=Call("book_flight")),
    Rule(user=PAY, then=Call("transfer_to_agent", agent_name="BillingAgent")),
    Rule(then=Call("transfer_to_agent", agent_name="TravelAgent")),
]

BILLING = [
    Rule(after="take_payment", then=Say("{result.message}", chunks=6, delay=0.04)),
    Rule(user=PAY, then=Call("take_payment")),
    Rule(user=BOOK, then=Call("transfer_to_agent", agent_name="BookingAgent")),
    Rule(then=Call("transfer_to_agent", agent_name="TravelAgent")),
]
