"""Long histories with something to find in them."""

import json

from devui.debugger.events.summary import summarize
from devui.store.rows import NewEvent
from devui.wire.events import Event


def event(number: int) -> NewEvent:
    """Return an event; turns have ten, and every fiftieth ends with text that its row cuts off."""
    author = "user" if number % 10 == 1 else "Agent"
    text = "x" * 300 + (" a far needle" if number % 50 == 5 else "")
    call = {"functionCall": {"id": f"c{number}", "name": "look", "args": {}}}
    event_json = {
        "id": f"e{number}",
        "author": author,
        "invocationId": f"i{number // 10}",
        "content": {"parts": [call if number % 7 == 0 else {"text": text}]},
    }
    summary = summarize(Event.of(event_json), final=False)
    return NewEvent(
        id=f"e{number}",
        invocation_id=f"i{number // 10}",
        author=author,
        branch=None,
        timestamp=number * 0.5 + number // 30,
        kind=summary.kind,
        final=False,
        summary_json=summary.to_json(),
        data=json.dumps(event_json),
        state_delta={},
    )
