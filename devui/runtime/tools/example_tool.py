"""`ExampleTool`: shows a model examples of how to answer (adk-runtime 8.8)."""

from collections.abc import Sequence

from pydantic import TypeAdapter

from devui.runtime.examples import BaseExampleProvider, Example, build_example_si
from devui.runtime.models.llm_request import LlmRequest
from devui.runtime.tools.base_tool import BaseTool
from devui.runtime.tools.tool_context import ToolContext


class ExampleTool(BaseTool):
    """Adds examples to the system instruction. The model neither sees nor calls it."""

    def __init__(self, examples: Sequence[Example] | BaseExampleProvider) -> None:
        """Show these examples, or those that a provider finds for the user's message.

        Raises:
            ValueError: `examples` is neither.
        """
        super().__init__(name="example_tool", description="Not shown to the model.")
        self.examples = (
            examples
            if isinstance(examples, BaseExampleProvider)
            else TypeAdapter(list[Example]).validate_python(examples)
        )

    async def process_llm_request(
        self, *, tool_context: ToolContext, llm_request: LlmRequest
    ) -> None:
        """Append the examples to the system instruction."""
        content = tool_context.user_content
        if content is None or not content.parts:
            return
        query = " ".join(part.text for part in content.parts if part.text)
        if not query and isinstance(self.examples, BaseExampleProvider):
            return
        instruction = build_example_si(self.examples, query, llm_request.model)
        llm_request.append_instructions([instruction])
