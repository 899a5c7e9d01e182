"""`Example`: one exchange to learn from (adk-runtime 8.8)."""

from google.genai import types

from devui.runtime.ignored import Spelt


class Example(Spelt):
    """What a user says, and what the model should make of it."""

    input: types.Content
    """What the user says."""
    output: list[types.Content]
    """The answer, with the tool calls and results on the way to it."""
