"""`ToolConfirmation`: a tool call that waits for a human's yes (adk-runtime 1.3, 8.5).

Defined here because `EventActions` carries it; public as `devui.runtime.tools.tool_confirmation`.
"""

import json
from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class ToolConfirmation(BaseModel):
    """The question put to the human, and later the answer."""

    model_config = ConfigDict(
        extra="forbid", alias_generator=to_camel, populate_by_name=True, defer_build=True
    )

    hint: str = ""
    """Why the confirmation is asked for."""
    confirmed: bool = False
    """The human's answer; False also before there is one."""
    payload: Any | None = None
    """What the tool wants to be filled in; must be JSON-able."""

    @classmethod
    def from_response_dict(cls, response: dict[str, Any]) -> Self:
        """Read a function response; `{"response": "<json>"}` holds the answer as JSON text."""
        if set(response) == {"response"}:
            return cls.model_validate(json.loads(response["response"]))
        return cls.model_validate(response)
