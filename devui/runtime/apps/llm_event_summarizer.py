"""`LlmEventSummarizer`: lets a model sum up old events (adk-runtime 3.8)."""

from collections.abc import Iterator
from contextlib import aclosing

from google.genai import types

from devui.runtime.agents.invocation_events import REQUEST_CREDENTIAL
from devui.runtime.apps.configs import BaseEventsSummarizer
from devui.runtime.events.event import Event
from devui.runtime.events.event_actions import EventActions, EventCompaction
from devui.runtime.models.base_llm import BaseLlm
from devui.runtime.models.llm_request import LlmRequest

_HISTORY = "{conversation_history}"
_LONGEST_PAYLOAD = 2000
"""How many characters of a tool's arguments or result the prompt includes."""

_PROMPT = f"""\
Below is a conversation of a user with AI agents; it may begin with a summary of what was before. \
Sum it up for the agents, who will go on with your summary in its place.

- Begin with the language that the user writes in, as "Language: ...".
- Say what the user wants, what was found out and decided, and what is still open.
- Name the tools that were used by their exact names, with the results that matter.
- Be brief, and add nothing that is not there.

{_HISTORY}"""


class LlmEventSummarizer(BaseEventsSummarizer):
    """Asks a model for a summary of the events, thoughts and tool calls included."""

    def __init__(self, llm: BaseLlm, prompt_template: str | None = None) -> None:
        """Summarize with `llm`.

        Args:
            llm: The model.
            prompt_template: The prompt, with `{conversation_history}` where the events go.

        Raises:
            ValueError: the template has no such place.
        """
        if prompt_template is not None and _HISTORY not in prompt_template:
            raise ValueError(f"prompt_template has no {_HISTORY}; add it where the events go.")
        self._llm = llm
        self._prompt_template = prompt_template or _PROMPT

    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        """Return a summary of the events; None if there are none or the model says nothing."""
        if not events:
            return None
        history = self._format_events_for_prompt(events)
        prompt = self._prompt_template.replace(_HISTORY, history)
        request = LlmRequest(
            model=self._llm.model,
            contents=[types.Content(role="user", parts=[types.Part(text=prompt)])],
        )
        async with aclosing(self._llm.generate_content_async(request)) as responses:
            async for response in responses:
                if response.content and response.content.parts:
                    return _event(events, response.content, response.usage_metadata)
        return None

    def _format_events_for_prompt(self, events: list[Event]) -> str:
        """Return the events as they appear in the prompt; subclasses may override this."""
        return "\n".join(line for event in events for line in _lines(event))


def _event(
    events: list[Event],
    content: types.Content,
    usage: types.GenerateContentResponseUsageMetadata | None,
) -> Event:
    compaction = EventCompaction(
        start_timestamp=events[0].timestamp,
        end_timestamp=events[-1].timestamp,
        compacted_content=content.model_copy(update={"role": "model"}),
    )
    return Event(
        author="user",
        invocation_id=Event.new_id(),
        actions=EventActions(compaction=compaction),
        usage_metadata=usage,
    )


def _lines(event: Event) -> Iterator[str]:
    """Yield a line for each part of an event; credentials stay secret."""
    calls = [call.name for call in event.get_function_calls()]
    responses = [response.name for response in event.get_function_responses()]
    if REQUEST_CREDENTIAL in (*calls, *responses):
        return
    for part in (event.content.parts if event.content else None) or []:
        if part.text:
            yield f"{event.author}{' (thought)' if part.thought else ''}: {part.text}"
        if call := part.function_call:
            yield f"{event.author} called {call.name}({_cut(str(call.args))})"
        if response := part.function_response:
            yield f"{response.name} returned: {_cut(str(response.response))}"


def _cut(text: str) -> str:
    if len(text) <= _LONGEST_PAYLOAD:
        return text
    return f"{text[:_LONGEST_PAYLOAD]}... [{len(text) - _LONGEST_PAYLOAD} characters left out]"
