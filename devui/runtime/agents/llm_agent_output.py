"""Keeps an agent's answer in the state (adk-runtime 6.4)."""

from dataclasses import dataclass, field
from typing import Any

from devui.runtime.events.event import Event
from devui.runtime.models.output_schema import parsed


@dataclass(slots=True)
class OutputSaver:
    """Collects what one run of an agent says, for `state[output_key]`."""

    agent: str
    key: str | None
    schema: Any = None
    _texts: list[str] = field(default_factory=list)

    def save(self, event: Event) -> ValueError | None:
        """Put the answer into the state changes of an event.

        Without a schema the value is all text of the run up to here, what was said
        before tool calls included. With one it is the parsed JSON of the final event.

        Returns:
            What is wrong with the answer, if it does not fit the schema.
        """
        if self.key is None or event.partial or event.author != self.agent:
            return None
        text = _spoken(event)
        if text is None:
            return None
        self._texts.append(text)
        if self.schema is None:
            event.actions.state_delta[self.key] = "".join(self._texts)
        elif event.is_final_response() and text.strip():
            return self._save_parsed(event, text)
        return None

    def _save_parsed(self, event: Event, text: str) -> ValueError | None:
        try:
            event.actions.state_delta[str(self.key)] = parsed(self.schema, text)
        except ValueError as error:
            return ValueError(
                f"The answer of agent {self.agent!r} does not fit its output_schema: {error}"
            )
        return None


def mark_answer(event: Event, path: str, schema: Any) -> None:
    """Note on the answer of an agent that was called like a function that it is its output.

    With a schema the output is the parsed JSON; without one it is the message itself
    (adk-runtime 12.4).

    Raises:
        ValueError: the answer does not fit the schema.
    """
    text = _spoken(event)
    if text is None or event.partial or event.get_function_calls() or not _is_models(event):
        return
    told: dict[str, Any] = {"output_for": [path]}
    if schema is None:
        told["message_as_output"] = True
    elif text.strip():
        event.output = parsed(schema, text)
    # The events of one model call share their place.
    event.node_info = event.node_info.model_copy(update={**told, "path": path})


def _is_models(event: Event) -> bool:
    return event.content is not None and event.content.role == "model"


def _spoken(event: Event) -> str | None:
    """The text of an event without thoughts; None if it has none."""
    parts = (event.content.parts if event.content else None) or []
    texts = [part.text for part in parts if part.text is not None and not part.thought]
    return "".join(texts) if texts else None
