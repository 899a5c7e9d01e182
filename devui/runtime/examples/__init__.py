"""Examples that show a model how to answer (adk-runtime 8.8)."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from google.genai import types

from devui.runtime.mistakes import SpellCheckedModel

# `Example`: one exchange to learn from (adk-runtime 8.8).


class Example(SpellCheckedModel):
    """An example input with the model's expected output."""

    input: types.Content
    """What the user says."""
    output: list[types.Content]
    """The answer, with the tool calls and results on the way to it."""


# `BaseExampleProvider`: examples chosen for what the user asks (adk-runtime 8.8).


class BaseExampleProvider(ABC):
    """Provides examples that depend on the question."""

    @abstractmethod
    def get_examples(self, query: str) -> list[Example]:
        """Return the examples that fit the user's message."""


# Examples as text of a system instruction (adk-runtime 8.8).


def build_example_si(
    examples: Sequence[Example] | BaseExampleProvider, query: str, model: str | None
) -> str:
    """Return the examples as text for `model`; a provider chooses them by `query`."""
    if isinstance(examples, BaseExampleProvider):
        examples = examples.get_examples(query)
    return convert_examples_to_text(examples, model)


def convert_examples_to_text(examples: Sequence[Example], model: str | None) -> str:
    """Return the examples as text; code fences have labels for models other than Gemini's."""
    plain = model is None or "gemini-" in model
    text = "\n\n".join(
        "\n".join([f'<EXAMPLE number="{number}">', *_lines(example, plain), "</EXAMPLE>"])
        for number, example in enumerate(examples, 1)
    )
    return f"<EXAMPLES>\nThis is how to answer, tool calls included.\n\n{text}\n</EXAMPLES>"


def _lines(example: Example, plain: bool) -> Iterator[str]:
    speaker = None
    for content in (example.input.model_copy(update={"role": "user"}), *example.output):
        role = "[model]" if content.role == "model" else "[user]"
        if role != speaker:
            yield role
        speaker = role
        yield from (text for part in content.parts or [] if (text := _text(part, plain)))


def _text(part: types.Part, plain: bool) -> str | None:
    if call := part.function_call:
        args = ", ".join(f"{name}={value!r}" for name, value in (call.args or {}).items())
        return _fenced(f"{call.name}({args})", "" if plain else "tool_code")
    if response := part.function_response:
        line = f"{response.name}: {response.response}"
        return _fenced(line, "" if plain else "tool_outputs")
    return part.text


def _fenced(text: str, kind: str) -> str:
    return f"```{kind}\n{text}\n```"


__all__ = ["BaseExampleProvider", "Example"]
