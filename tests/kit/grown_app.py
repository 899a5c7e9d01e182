"""An app that grows its agents from the message: a property test makes many of them."""

import asyncio
import json
import random

from google.genai import types

from devui.runtime.agents import Agent, BaseAgent, LoopAgent, ParallelAgent, SequentialAgent
from devui.runtime.events import Event, EventActions
from devui.runtime.models import BaseLlm, LlmResponse
from devui.runtime.tools import ToolContext


async def soon():
    await asyncio.sleep(random.random() / 100)


class Model(BaseLlm):
    """Calls `work` as often as its name says, then streams an answer."""

    async def generate_content_async(self, llm_request, stream=False):
        kind, calls, name = self.model.split("-", 2)
        await soon()
        parts = [part for content in llm_request.contents for part in content.parts]
        done = sum(1 for part in parts if part.function_response)
        if done < int(calls):
            function_call = types.FunctionCall(name="work", args={"who": name, "turn": done})
            part = types.Part(function_call=function_call)
            yield LlmResponse(content=types.Content(role="model", parts=[part]))
            return
        if kind == "fail":
            raise OSError(f"{name} is away {random.random()}")
        words = [f"{random.random()} " for _ in range(3)]
        for word in words:
            await soon()
            answer = types.Content(role="model", parts=[types.Part(text=word)])
            yield LlmResponse(content=answer, partial=True)
        answer = types.Content(role="model", parts=[types.Part(text="".join(words))])
        yield LlmResponse(content=answer)


async def work(who: str, turn: int, tool_context: ToolContext) -> dict:
    """Do something that takes its time."""
    await soon()
    tool_context.state["last"] = f"{who} {random.random()}"
    if turn == 1:
        tool_context.actions.escalate = True
    return {"found": random.random()}


class Teller(BaseAgent):
    async def _run_async_impl(self, ctx):
        for number in range(2):
            await soon()
            text = types.Part(text=f"{self.name} {number}")
            yield Event(
                author=self.name,
                branch=ctx.branch,
                content=types.Content(role="model", parts=[text]),
                actions=EventActions(state_delta={self.name: number}),
            )


def grown(tree, name="a"):
    kind, *rest = tree
    if kind == "tell":
        return Teller(name=name)
    if kind in ("ask", "fail"):
        model = Model(model=f"{kind}-{rest[0]}-{name}")
        return Agent(name=name, model=model, tools=[work], include_contents="none")
    below = [grown(each, f"{name}_{place}") for place, each in enumerate(rest)]
    if kind == "loop":
        return LoopAgent(name=name, sub_agents=below, max_iterations=2)
    return {"all": ParallelAgent, "each": SequentialAgent}[kind](name=name, sub_agents=below)


class Grower(BaseAgent):
    async def _run_async_impl(self, ctx):
        tree = json.loads(ctx.user_content.parts[0].text)
        async for event in grown(tree).run_async(ctx):
            yield event


root_agent = Grower(name="grower")
