"""`JoinNode`: where ways that parted come together (adk-runtime 12.3)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, ClassVar

from devui.runtime.events.event import Event
from devui.runtime.workflow.base_node import BaseNode

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context


class JoinNode(BaseNode):
    """Waits for all nodes that lead to it, and gives their outputs as a dict by their names."""

    waits_for_all: ClassVar[bool] = True

    def _validate_input_data(self, data: Any) -> Any:
        """The outputs, each made to fit the schema."""
        if self.input_schema is None or not isinstance(data, dict):
            return super()._validate_input_data(data)
        validate = super()._validate_input_data
        return {name: validate(each) for name, each in data.items()}

    async def _run_impl(self, *, ctx: Context, node_input: Any) -> AsyncGenerator[Any, None]:
        yield Event(output=node_input)
