"""The events of a session in ADK's wire format, for benchmarks to store.

Each turn has a question, a call, a result and an answer, of about half a kilobyte each.
"""

from typing import Any

from benchmarks.workload import QUESTION, REPLY, get_weather

START = 1_700_000_000.0
TURN = 4
"""Events per turn."""


def contents(turn: int) -> list[tuple[str, dict[str, Any]]]:
    """Return the author and content of each event of a turn."""
    call = {"id": f"call-{turn}", "name": "get_weather"}
    args = {"city": f"City {turn}", "day": "tomorrow"}
    parts = [
        ("user", "user", {"text": f"{turn}: {QUESTION}"}),
        ("bench_text", "model", {"functionCall": {**call, "args": args}}),
        ("bench_text", "user", {"functionResponse": {**call, "response": get_weather(**args)}}),
        ("bench_text", "model", {"text": f"**Day {turn}**: {REPLY}"}),
    ]
    return [(author, {"role": role, "parts": [part]}) for author, role, part in parts]


def history(events: int) -> list[dict[str, Any]]:
    """Return the first `events` events of a session."""
    every = [entry for turn in range(-(-events // TURN)) for entry in contents(turn)]
    return [
        {
            "id": f"event-{number}",
            "invocationId": f"e-{number // TURN}",
            "author": author,
            "timestamp": START + number,
            "content": content,
            "actions": {"stateDelta": {"turn": number // TURN} if number % TURN == 2 else {}},
        }
        for number, (author, content) in enumerate(every[:events])
    ]
