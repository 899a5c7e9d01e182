"""The events of the sample session: the travel agent of the events seed, twice."""

import json
from collections.abc import Iterable
from typing import Any

from devui.debugger.events.summary import summarize
from devui.store.rows import EventRow
from devui.store.summaries import Summary
from devui.wire.events import Event

KEY = 7
NOW = 1_795_226_531.532
Stored = tuple[EventRow, Summary, Event]


def text(*words: str, role: str = "model") -> dict[str, Any]:
    return {"role": role, "parts": [{"text": word} for word in words]}


def call(name: str, call_id: str, **args: Any) -> dict[str, Any]:
    return {
        "role": "model",
        "parts": [{"functionCall": {"id": call_id, "name": name, "args": args}}],
    }


def response(name: str, call_id: str, value: Any) -> dict[str, Any]:
    part = {"functionResponse": {"id": call_id, "name": name, "response": value}}
    return {"role": "user", "parts": [part]}


def usage(prompt: int, answer: int) -> dict[str, int]:
    return {
        "promptTokenCount": prompt,
        "candidatesTokenCount": answer,
        "totalTokenCount": prompt + answer,
    }


FLIGHTS = {
    "flights": [
        {"no": "LX 316", "dep": "07:05", "arr": "07:50", "price": 212, "seats": ["12A", "14C"]},
        {"no": "BA 709", "dep": "09:40", "arr": "10:25", "price": 268, "seats": []},
    ],
    "currency": "CHF",
}

FIRST: list[dict[str, Any]] = [
    {"author": "user", "content": text("Book a flight to London next Tuesday", role="user")},
    {
        "author": "TravelAgent",
        "content": {
            "role": "model",
            "parts": [
                {"text": "The user wants London; I need its airports first.", "thought": True},
                call("find_airports", "adk-1", city="London")["parts"][0],
            ],
        },
        "usageMetadata": usage(388, 24),
    },
    {
        "author": "TravelAgent",
        "content": response("find_airports", "adk-1", {"result": ["LHR", "LGW", "STN"]}),
        "actions": {"stateDelta": {"city": "London", "airports": ["LHR", "LGW", "STN"]}},
    },
    {
        "author": "TravelAgent",
        "actions": {"stateDelta": {"user:searches": 2}, "artifactDelta": {"airports.md": 0}},
    },
    {
        "author": "TravelAgent",
        "content": text(
            "London has three airports. **Heathrow** suits you best from Zurich:\n\n"
            "| airport | to the centre |\n|---|--:|\n"
            "| Heathrow | 15 min |\n| Gatwick | 30 min |\n\n"
            "Shall I look for a morning flight?"
        ),
        "usageMetadata": usage(560, 95),
        "finishReason": "STOP",
        "modelVersion": "scripted",
    },
]
SECOND: list[dict[str, Any]] = [
    {"author": "user", "content": text("Yes, before ten", role="user")},
    {
        "author": "TravelAgent",
        "content": call("transfer_to_agent", "adk-2", agent_name="FlightAgent"),
        "actions": {"transferToAgent": "FlightAgent"},
        "usageMetadata": usage(360, 20),
    },
    {
        "author": "FlightAgent",
        "branch": "TravelAgent.FlightAgent",
        "content": call("search_flights", "adk-3", to="LHR", before="10:00"),
        "usageMetadata": usage(380, 22),
    },
    {
        "author": "FlightAgent",
        "branch": "TravelAgent.FlightAgent",
        "errorCode": "DEADLINE_EXCEEDED",
        "errorMessage": "The fares service did not answer within 2 s",
    },
    {
        "author": "FlightAgent",
        "branch": "TravelAgent.FlightAgent",
        "content": call("search_flights", "adk-4", to="LHR", before="10:00", retries=1),
        "usageMetadata": usage(391, 24),
    },
    {
        "author": "FlightAgent",
        "branch": "TravelAgent.FlightAgent",
        "content": response("search_flights", "adk-4", FLIGHTS),
        "actions": {
            "stateDelta": {"flights": FLIGHTS["flights"], "cheapest": "LX 316", "retries": 1},
        },
    },
    {
        "author": "FlightAgent",
        "branch": "TravelAgent.FlightAgent",
        "content": call(
            "adk_request_confirmation",
            "adk-5",
            originalFunctionCall={"name": "hold_seat", "args": {"flight": "LX 316"}},
        ),
        "actions": {
            "requestedToolConfirmations": {"adk-5": {"hint": "Hold LX 316 for 212 CHF?"}},
        },
        "longRunningToolIds": ["adk-5"],
    },
    {
        "author": "FlightAgent",
        "branch": "TravelAgent.FlightAgent",
        "content": text(
            "I found two flights before ten. The cheaper one is **LX 316**, leaving at 07:05."
        ),
        "usageMetadata": usage(540, 50),
    },
]
GAPS = [0.0, 0.81, 0.41, 0.002, 0.92, 38.0, 0.62, 0.55, 2.0, 0.4, 0.31, 0.12, 0.7]
FINAL = {5, 9, 12, 13}


def stored(
    events: Iterable[dict[str, Any]], *, invocation: str, start: int = 1, at: float = NOW
) -> list[Stored]:
    """Return the events as the store keeps them."""
    rows: list[Stored] = []
    for number, event in enumerate(events, start):
        at += GAPS[(number - 1) % len(GAPS)]
        final = number in FINAL
        event = {"invocationId": invocation, "id": f"event-{number}", "timestamp": at} | event
        summary = summarize(Event.of(event), final=final)
        data = json.dumps(event)
        row = EventRow(
            seq=100 + number * 2,
            number=number,
            session=KEY,
            run=f"run-{invocation}",
            id=event["id"],
            invocation_id=invocation,
            author=event["author"],
            branch=event.get("branch"),
            timestamp=at,
            kind=summary.kind,
            final=final,
            summary_json=summary.to_json(),
            chunks=38 if number == 5 else 0,
            size=len(data),
        )
        rows.append((row, summary, Event.of(event)))
    return rows


def travel() -> list[Stored]:
    """Return both invocations of the sample session."""
    first = stored(FIRST, invocation="e-7f31c2aa")
    last = first[-1][0].timestamp
    return first + stored(SECOND, invocation="e-90b4d511", start=6, at=last)
