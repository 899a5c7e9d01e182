"""What the user has decided on calls that need a confirmation (adk-runtime 8.5)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from google.genai import types

from devui.runtime.agents.open_calls import REQUEST_CONFIRMATION
from devui.runtime.events.tool_confirmation import ToolConfirmation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from devui.runtime.events.event import Event


def decisions(answer: Event | None) -> dict[str, ToolConfirmation]:
    """What the user decided in an answer, by the id of the request.

    Raises:
        ValueError: it does not tell that.
    """
    return {
        response.id: _decision(response.response)
        for response in (answer.get_function_responses() if answer else [])
        if response.name == REQUEST_CONFIRMATION and response.id and response.response is not None
    }


def originals(
    events: Sequence[Event], agent: str, decided: Mapping[str, ToolConfirmation]
) -> dict[str, types.FunctionCall]:
    """The calls that the agent's requests were about, by the id of the request."""
    return {
        call.id: types.FunctionCall.model_validate((call.args or {})["originalFunctionCall"])
        for event in events
        if event.author == agent
        for call in event.get_function_calls()
        if call.name == REQUEST_CONFIRMATION and call.id and call.id in decided
    }


def decided_calls(events: Sequence[Event], agent: str) -> dict[str, ToolConfirmation]:
    """The decisions on the agent's calls so far, by the ids of the calls."""
    decided: dict[str, ToolConfirmation] = {}
    for event in events:
        if event.author == "user":
            with suppress(ValueError, TypeError):  # which has been told when it came
                decided |= decisions(event)
    asked = originals(events, agent, decided)
    return {call.id or "": decided[request_id] for request_id, call in asked.items()}


def _decision(answer: dict[str, Any]) -> ToolConfirmation:
    try:
        return ToolConfirmation.from_response_dict(answer)
    except (ValueError, TypeError) as error:  # of pydantic and json
        error.add_note(
            f"{answer!r:.200} does not tell whether the tool may be called; answer"
            f' {REQUEST_CONFIRMATION} with {{"confirmed": true}} or {{"confirmed": false}}.'
        )
        raise
