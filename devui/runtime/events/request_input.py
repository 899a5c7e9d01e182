"""`RequestInput`: a pause until a human answers (adk-runtime 1.3)."""

from typing import Any

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from devui.runtime.mistakes import SpellCheckedModel
from devui.runtime.platform.uuid import new_uuid


class RequestInput(SpellCheckedModel):
    """A question to a person, and the expected form of the answer."""

    model_config = ConfigDict(
        arbitrary_types_allowed=True,
        alias_generator=to_camel,
        populate_by_name=True,
        defer_build=True,
    )

    interrupt_id: str = Field(default_factory=new_uuid)
    """Identifies the question; the answer is a function response with this id."""
    payload: Any = None
    """Handed back with the answer."""
    message: str | None = None
    """The question, as shown to the human."""
    response_schema: Any = None
    """A type, a generic such as `list[str]`, or a JSON schema; None accepts anything."""
