"""The turn of an agent with a model, and how it is resumed (adk-runtime 6.4, 12.8)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, ClassVar

from google.genai import types

from devui.runtime.agents.agent_runs import Pause, awaits_words, has_started
from devui.runtime.agents.base_agent import events_of, target_of, transfers
from devui.runtime.agents.hand_over import hand_over
from devui.runtime.agents.invocation_events import (
    awaits_user,
    finishing_response,
    lost_calls,
    lost_code,
    own_events,
    pausing_calls,
)
from devui.runtime.models.output_schema import parse_output
from devui.runtime.workflow.values import as_message

if TYPE_CHECKING:
    from devui.runtime.agents.base_agent import BaseAgent
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.invocation_context import InvocationContext
    from devui.runtime.agents.llm_agent_settings import LlmAgentSettings
    from devui.runtime.events.event import Event


# The turn of an agent with a model, and what is left of it when its invocation is resumed.
#
# Source: resume seed; adk-runtime 11.4.


class NextStep(Enum):
    """What a resumed agent has to do next."""

    TURN = auto()
    """Begin or continue its turn."""
    TRANSFER = auto()
    """Finish the run of the agent that it handed over to."""
    WAIT = auto()
    """Nothing until the user has answered."""
    NOTHING = auto()
    """Nothing; only the record of its end is missing."""


def what_is_left(agent: LlmAgentSettings, ctx: InvocationContext) -> tuple[NextStep, str]:
    """Return what the agent has to do next, and the name of the agent it handed over to, or ''."""
    if not has_started(ctx, agent):
        return (NextStep.WAIT if _has_yet_to_hear(agent, ctx) else NextStep.TURN), ""
    if ctx.agent_state_key(agent.name) in ctx.callbacks_left:
        return NextStep.NOTHING, ""
    messages = _messages(ctx)
    own = [event for event in messages if event.author == agent.name]
    if agent.mode == "task" and not awaits_words(ctx, agent):
        return NextStep.NOTHING, ""
    if own and (target := own[-1].actions.transfer_to_agent):
        return NextStep.TRANSFER, target
    if not messages or not _is_over(messages[-1], agent.name) or lost_calls(ctx, agent.name):
        return NextStep.TURN, ""
    if agent.code_executor is not None and lost_code(ctx, agent.name) is not None:
        return NextStep.TURN, ""
    waits = awaits_words(ctx, agent) or awaits_user(ctx, {agent.name})
    return (NextStep.WAIT if waits else NextStep.NOTHING), ""


def _has_yet_to_hear(agent: LlmAgentSettings, ctx: InvocationContext) -> bool:
    """Return whether an agent with a task, but without a checkpoint, waits for the user's reply."""
    if agent.mode != "task" or not ctx.has_begun:
        return False
    messages = _messages(ctx)
    return bool(messages) and _is_over(messages[-1], agent.name) and not lost_calls(ctx, agent.name)


def _messages(ctx: InvocationContext) -> list[Event]:
    """Return what has been said so far, without answers that only repeat earlier ones."""
    events = [event for event in own_events(ctx) if event.content or event.error_code]
    return [event for event in events if not ctx.is_ignored(event)]


def _is_over(last: Event, agent: str) -> bool:
    """Return whether the agent had the last word."""
    return last.author == agent and last.is_final_response() and not last.error_code


@dataclass(slots=True)
class Turn:
    """One turn: whether it has to wait for someone, and the agent it is handed over to."""

    ctx: InvocationContext
    target: BaseAgent | None = None
    _waits: bool = field(default=False, init=False)

    def watch(self, event: Event) -> None:
        """Take note of an event of the turn."""
        self._waits = self._waits or bool(pausing_calls(event))
        agent = self.ctx.agent
        self.target = None
        if agent is not None and transfers(agent, event):
            self.ctx.see_through(event)
            self.target = target_of(agent, event.actions.transfer_to_agent)

    async def hand_over(self, *, anew: bool) -> AsyncGenerator[Event, None]:
        """Run the target, unless it has ended already in the resumed invocation."""
        target, source = self.target, self.ctx.agent
        if target is None or source is None:
            return
        pause = Pause(self.ctx, target)
        async with aclosing(hand_over(self.ctx, source, target, anew=anew)) as events:
            async for event in events:
                yield event
                pause.watch(event)
        self._waits = self._waits or pause.is_needed

    @property
    def _has_tasks(self) -> bool:
        """Whether a task may come between a question and the end of the turn."""
        return self.ctx.agent is not None and bool(self.ctx.agent.sub_agents_given_tasks)

    def paused(self, agent: str) -> bool:
        """Return whether the agent of that name, or its target, waits for an answer."""
        return self._waits or (
            self.target is None
            and (self.ctx.begun_at is not None or self._has_tasks)
            and awaits_user(self.ctx, {agent})
        )


# The output of an agent's run, in the state and on its events (adk-runtime 6.4, 12.4, 12.8).


_TOO_EARLY = (
    "The task is not finished: other calls of this answer are still open. Call again, alone, when"
    " you have their results."
)


@dataclass(slots=True)
class OutputSaver:
    """Collects the text of one run of an agent for `state[output_key]`."""

    agent: str
    key: str | None
    schema: Any = None
    path: str | None = None
    """The place of an agent that was called like a function, whose answers are its output."""
    again: bool = False
    """Whether such an agent is retried after an answer that does not fit the schema."""
    complete: ClassVar[bool] = False
    """Whether to end the run; never set, since the run ends by itself."""
    _texts: list[str] = field(default_factory=list)

    def save(self, event: Event) -> ValueError | None:
        """Add the answer to the state changes of an event.

        Without a schema, the value is all text of the run so far, including what was said before
        tool calls. With one, it is the parsed JSON of the final event.

        Returns:
            The error if the answer does not fit the schema.
        """
        if self.path is not None and event.author == self.agent:
            try:
                mark_answer(event, self.path, self.schema)
            except ValueError as error:
                if self.again:
                    return self._unfit(error)  # otherwise the agent's caller is told
        if self.key is None or event.partial or event.author != self.agent:
            return None
        text = _text_of(event)
        if text is None or not (text or event.is_final_response()):
            return None  # an empty text before a call must not clear an earlier answer
        self._texts.append(text)
        if self.schema is None:
            event.actions.state_delta[self.key] = "".join(self._texts)
        elif event.is_final_response() and text.strip():
            return self._save_parsed(event, text)
        return None

    def _save_parsed(self, event: Event, text: str) -> ValueError | None:
        try:
            event.actions.state_delta[str(self.key)] = parse_output(self.schema, text)
        except ValueError as error:
            return self._unfit(error)
        return None

    def _unfit(self, error: ValueError) -> ValueError:
        return ValueError(
            f"The answer of agent {self.agent!r} does not fit its output_schema: {error}"
        )


@dataclass(slots=True)
class TaskOutput:
    """Records a task's output on the event that finishes it, and in `state[output_key]`."""

    ctx: InvocationContext
    key: str | None
    complete: bool = False
    """Whether the task is finished, so that the run must end."""

    def save(self, event: Event) -> None:
        """Check an event before it is committed.

        A task doesn't end while other calls of the same answer are open; the finishing call gets an
        error instead.
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
    """Mark the answer of an agent that was called like a function as its output.

    With a schema, the output is the parsed JSON; without one, it is the message itself (adk-runtime
    12.4).

    Raises:
        ValueError: the answer does not fit the schema.
    """
    text = _text_of(event)
    if text is None or event.partial or event.get_function_calls() or not _is_models(event):
        return
    fields: dict[str, Any] = {"output_for": [path]}
    if schema is None:
        fields["message_as_output"] = True
    elif text.strip():
        event.output = parse_output(schema, text)
    _place(event, path, **fields)


def _place(event: Event, path: str, **values: Any) -> None:
    # The events of one model call share their `node_info`, so this one gets its own.
    event.node_info = event.node_info.model_copy(update={"path": path, **values})


def _is_models(event: Event) -> bool:
    return event.content is not None and event.content.role == "model"


def _text_of(event: Event) -> str | None:
    """Return the text of an event without thoughts; None if it has none."""
    parts = (event.content.parts if event.content else None) or []
    texts = [part.text for part in parts if part.text is not None and not part.thought]
    return "".join(texts) if texts else None


# An agent with a model as a node of a workflow (adk-runtime 12.8).


async def run_as_node(
    agent: LlmAgentSettings, ctx: Context, node_input: Any
) -> AsyncGenerator[Event, None]:
    """Run the agent; in mode `single_turn` or `task`, the input becomes its user message.

    The output is its last message, or the value of its schema; for a task, the task's output.
    """
    invocation = ctx.get_invocation_context()
    if agent.mode in {"single_turn", "task"} and node_input is not None:
        message = as_message(node_input)
        if _says_something(message):
            invocation = invocation.model_copy(update={"user_content": message})
    async with aclosing(events_of(agent, invocation)) as events:
        async for event in events:
            ctx.event_author = event.author
            if agent.mode == "single_turn" and event.author == agent.name:
                _take_answer(agent, ctx.node_path or "", event)
            yield event


def gives_one_answer(ctx: InvocationContext) -> bool:
    """Return whether the agent isn't in a conversation, but called like a function or by a graph.

    Its answer is its result, so nobody may continue with it while a call of its model is open.
    """
    agent = ctx.agent
    if agent is None or vars(agent).get("mode") != "single_turn":
        return False
    if agent.is_called_by_model:
        return True
    if not ctx.node_path:
        return False
    return ctx.node_path.rpartition("/")[2].partition("@")[0] == agent.name


def _says_something(message: types.Content) -> bool:
    """Return whether a model can be asked with it; if not, the user's own message is used."""
    return any(part.text != "" for part in message.parts or [])


def _take_answer(agent: LlmAgentSettings, path: str, event: Event) -> None:
    try:
        mark_answer(event, path, agent.output_schema)
    except ValueError as error:
        error.add_note(f"The answer of agent {agent.name!r} does not fit its output_schema.")
        raise
