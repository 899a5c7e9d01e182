"""What comes of an agent's run: in the state, and on its events (adk-runtime 6.4, 12.4, 12.8)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from devui.runtime.models.output_schema import parsed
from devui.runtime.tools.finish_task_tool import finishing_response

if TYPE_CHECKING:
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.events.event import Event

_TOO_EARLY = (
    "The task is not finished: other calls of this answer are still open. Call again, alone, when"
    " you have their results."
)


@dataclass(slots=True)
class OutputSaver:
    """Collects what one run of an agent says, for `state[output_key]`."""

    agent: str
    key: str | None
    schema: Any = None
    path: str | None = None
    """The place of an agent that was called like a function, whose answers are its output."""
    again: bool = False
    """Whether such an agent is tried again after an answer that does not fit the schema."""
    complete: ClassVar[bool] = False
    """Whether the run is to end: it does so by itself."""
    _texts: list[str] = field(default_factory=list)

    def save(self, event: Event) -> ValueError | None:
        """Put the answer into the state changes of an event.

        Without a schema the value is all text of the run up to here, what was said
        before tool calls included. With one it is the parsed JSON of the final event.

        Returns:
            What is wrong with the answer, if it does not fit the schema.
        """
        if self.path is not None and event.author == self.agent:
            try:
                mark_answer(event, self.path, self.schema)
            except ValueError as error:
                if self.again:
                    return self._unfit(error)  # else who called the agent is told
        if self.key is None or event.partial or event.author != self.agent:
            return None
        text = _spoken(event)
        if text is None or not (text or event.is_final_response()):
            return None  # blanks before a call take nothing away that an earlier turn has said
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
            return self._unfit(error)
        return None

    def _unfit(self, error: ValueError) -> ValueError:
        return ValueError(
            f"The answer of agent {self.agent!r} does not fit its output_schema: {error}"
        )


@dataclass(slots=True)
class TaskOutput:
    """Notes what came of a task on the event that finishes it, and in `state[output_key]`."""

    ctx: InvocationContext
    key: str | None
    complete: bool = False
    """Whether the task is finished, and the run is to end."""

    def save(self, event: Event) -> None:
        """Look at an event before it is committed.

        A task does not end while calls of the same answer are open: then the finishing call gets
        an error.
        """
        response = finishing_response(event)
        actions = event.actions
        asks = actions.requested_tool_confirmations or actions.requested_auth_configs
        if response is None:
            return
        if self.ctx.delegating or asks:
            response.response = {"error": _TOO_EARLY}
            return
        output = event.output = self.ctx.task_output
        if self.ctx.node_path:
            _place(event, self.ctx.node_path, output_for=[self.ctx.node_path])
        if self.key is not None:
            actions.state_delta[self.key] = output
        self.complete = True


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
    _place(event, path, **told)


def _place(event: Event, path: str, **told: Any) -> None:
    # The events of one model call share their `node_info`, so this one gets its own.
    event.node_info = event.node_info.model_copy(update={"path": path, **told})


def _is_models(event: Event) -> bool:
    return event.content is not None and event.content.role == "model"


def _spoken(event: Event) -> str | None:
    """The text of an event without thoughts; None if it has none."""
    parts = (event.content.parts if event.content else None) or []
    texts = [part.text for part in parts if part.text is not None and not part.thought]
    return "".join(texts) if texts else None
