"""FieldAgent shows when a state write is merely visible, and when it is committed.

A custom agent: `_run_async_impl` yields events, and each `yield` hands control to the
Runner, which commits the event before the next line runs.
"""

import logging
import os
from collections.abc import AsyncGenerator
from typing import Any

from google.genai import types

from devui.runtime.agents import Agent, BaseAgent, InvocationContext
from devui.runtime.events import Event, EventActions
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import BaseTool, ToolContext

GEMINI = os.environ.get("DEVUI_MODEL") if os.environ.get("GOOGLE_API_KEY") else None

logger = logging.getLogger("field_state")


def write_before_tool(
    tool: BaseTool, args: dict[str, Any], tool_context: ToolContext
) -> dict[str, Any] | None:
    """Write field_1 just before the tool runs; the commit comes with the tool's response."""
    tool_context.state["field_1"] = "value_1"
    logger.info("before %s: field_1 is set to value_1, not committed", tool.name)
    return None


def read_field(tool_context: ToolContext) -> dict[str, Any]:
    """Read field_1 of the session's state."""
    value = tool_context.state["field_1"]
    print(f"Dirty read value in tool: {value}")
    return {"field_1": value, "committed": False}


SCRIPT = [
    Rule(
        after="read_field",
        then=Say(
            "The tool read `{result.field_1}`, written before it in the same invocation. The event"
            " of its response, one row up, commits that write.",
            chunks=8,
            delay=0.04,
        ),
    ),
    Rule(then=Call("read_field")),
]

dirty_reader = Agent(
    name="DirtyReader",
    description="Reads a value before it is committed.",
    model=GEMINI or ScriptedLlm(model="scripted-reader", rules=SCRIPT),
    instruction="Call read_field and say what it read.",
    tools=[read_field],
    before_tool_callback=write_before_tool,
)


class FieldAgent(BaseAgent):
    """Writes field_1, yields, and reads it again."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        request = _text(ctx.user_content).lower()
        if "dirty" in request:
            async for event in self.sub_agents[0].run_async(ctx):
                yield event
        elif "write" in request:
            async for event in self._write_and_read(ctx):
                yield event
        else:
            value = ctx.session.state.get("field_1")
            yield self._say(ctx, f"field_1 is {value!r}.")

    async def _write_and_read(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        ctx.session.state["field_1"] = "value_1"
        print("Written without an event: value_1 can be read here and is stored nowhere")

        update = {"field_1": "value_2"}
        yield self._say(ctx, "State updated.", EventActions(state_delta=update))
        # Execution continues here once the Runner has committed the event.

        value = ctx.session.state["field_1"]
        print(f"Resumed execution. Value of field_1 is now: {value}")
        logger.info("committed: field_1 = %s", value)
        yield self._say(ctx, f"Resumed after the commit: field_1 is now {value!r}.")

    def _say(self, ctx: InvocationContext, text: str, actions: EventActions | None = None) -> Event:
        return Event(
            author=self.name,
            invocation_id=ctx.invocation_id,
            branch=ctx.branch,
            content=types.Content(role="model", parts=[types.Part(text=text)]),
            actions=actions or EventActions(),
        )


def _text(content: types.Content | None) -> str:
    parts = content.parts if content and content.parts else []
    return " ".join(part.text for part in parts if part.text)


root_agent = FieldAgent(
    name="FieldAgent",
    description="Shows dirty reads and commits, and what the agent sees after each.",
    sub_agents=[dirty_reader],
)
