"""The tool by which a model lets the user choose (adk-runtime 8.4)."""

from devui.runtime.tools.long_running_tool import LongRunningFunctionTool
from devui.runtime.tools.tool_context import ToolContext


def get_user_choice(options: list[str], tool_context: ToolContext) -> str | None:
    """Show the options to the user, who chooses one.

    Args:
        options: What to choose from.
    """
    tool_context.actions.skip_summarization = True
    return None  # the user's choice comes later, as the function's response


get_user_choice_tool = LongRunningFunctionTool(get_user_choice)
"""Pauses the turn until the client sends the choice (adk-runtime 8.4)."""
