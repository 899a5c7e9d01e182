"""What happened in a turn, for tests of runs that stop and continue."""

from typing import Any

from google.genai import types

from devui.runtime.events import Event
from devui.runtime.runners import InMemoryRunner
from tests.kit.stages import WHERE, stored


async def invocation_of(runner: InMemoryRunner) -> str:
    """Return the id of the newest invocation."""
    return (await stored(runner)).events[-1].invocation_id


def responses(events: list[Event]) -> list[tuple[str, Any]]:
    """Return the names and values of the tool responses, in order."""
    return [
        (response.name, response.response)
        for event in events
        for response in event.get_function_responses()
    ]


def calls(events: list[Event]) -> list[types.FunctionCall]:
    return [call for event in events for call in event.get_function_calls()]


def said_by(author: str, events: list[Event]) -> list[str]:
    """Return the texts of an author."""
    return [
        part.text
        for event in events
        if event.author == author and event.content
        for part in event.content.parts or []
        if part.text
    ]


async def answer(
    runner: InMemoryRunner, *answers: tuple[types.FunctionCall, dict[str, Any]], **kwargs: Any
) -> list[Event]:
    """Answer calls and run the turn that this resumes."""
    parts = [
        types.Part(
            function_response=types.FunctionResponse(id=call.id, name=call.name, response=response)
        )
        for call, response in answers
    ]
    message = types.Content(role="user", parts=parts)
    events = runner.run_async(**WHERE, new_message=message, **kwargs)
    return [event async for event in events]
