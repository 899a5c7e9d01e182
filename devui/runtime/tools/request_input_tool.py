"""The tool by which a model asks the user something and waits for the answer (adk-runtime 8.4)."""

from typing import Any

from devui.runtime.tools.long_running_tool import LongRunningFunctionTool


def adk_request_input(message: str, response_schema: dict[str, Any] | None = None) -> None:
    """Put a question to the user and wait for the answer.

    Call it when something is unclear or missing and only the user can tell.

    Args:
        message: The question, as the user reads it.
        response_schema: The JSON schema of the answer: {"type": "string"} for any text,
            {"type": "boolean"} for yes or no, an object's schema for several values.
    """


request_input = LongRunningFunctionTool(adk_request_input)
"""Pauses the turn until the client sends the answer (adk-runtime 8.4)."""
