"""An app with all that a recording must keep: parallel agents, streams, tools that act, files."""

from pathlib import Path

TEAM = '''
import asyncio
import random
from pathlib import Path

from google.genai import types

from devui.runtime.agents import Agent, BaseAgent, ParallelAgent, SequentialAgent
from devui.runtime.events import Event, EventActions
from devui.runtime.models import BaseLlm, LlmResponse
from devui.runtime.tools import ToolContext
from devui.runtime.tools.agent_tool import AgentTool

LIVE = Path("LOG")


def live(name):
    """Note that something outside was really reached."""
    with LIVE.open("a") as log:
        log.write(name + "\\n")


def said(*parts, partial=None):
    return LlmResponse(content=types.Content(role="model", parts=list(parts)), partial=partial)


def call(name, **args):
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


class Model(BaseLlm):
    """Calls its tool, then streams what came of it; how long that takes is anybody's guess."""

    async def generate_content_async(self, llm_request, stream=False):
        live(self.model)
        await asyncio.sleep(random.random() / 50)
        last = llm_request.contents[-1].parts[-1]
        if last.function_response is None and self.model == "researcher":
            yield said(call("search", topic="north"), call("search", topic="south"))
        elif last.function_response is None and self.model == "boss":
            yield said(call("checker", request="check it"))
        elif last.function_response is None and self.model == "writer":
            yield said(call("note", text="a draft"))
        elif self.model == "broken":
            raise ValueError("the model is down")
        else:
            result = last.function_response.response if last.function_response else "alone"
            words = f"{self.model} is done: {result} {random.random()}".split(" ")
            if stream:
                for word in words:
                    await asyncio.sleep(random.random() / 200)
                    yield said(types.Part(text=word + " "), partial=True)
            yield said(types.Part(text=" ".join(words)))


async def search(topic: str, tool_context: ToolContext) -> dict:
    """Search the web."""
    live("search")
    await asyncio.sleep(random.random() / 50)
    tool_context.state[f"found_{topic}"] = random.random()
    tool_context.state["temp:last"] = topic
    return {"hits": random.randrange(10**9), "nothing": None}


async def note(text: str, tool_context: ToolContext) -> str:
    """Write a file."""
    live("note")
    part = types.Part(inline_data=types.Blob(data=text.encode(), mime_type="text/plain"))
    version = await tool_context.save_artifact("draft.txt", part)
    tool_context.state["user:drafts"] = tool_context.state.get("user:drafts", 0) + 1
    return f"saved as {version} {random.random()}"


class Ticker(BaseAgent):
    """Code of its own, which tells something twice."""

    async def _run_async_impl(self, ctx):
        for tick in range(2):
            await asyncio.sleep(random.random() / 50)
            yield Event(
                author=self.name,
                branch=ctx.branch,
                content=types.Content(role="model", parts=[types.Part(text=f"tick {tick}")]),
                actions=EventActions(state_delta={"ticks": tick}),
            )


def agent(name, **more):
    more.setdefault("instruction", f"You are the {name}.")
    return Agent(name=name, model=Model(model=name), **more)


def manner(context):
    """How to write, which stands outside of the code."""
    return f"Write {Path('MANNER').read_text()}."


checker = agent("checker", instruction="Check KNOWN of {temp:last?}.", tools=[note])
root_agent = SequentialAgent(
    name="team",
    sub_agents=[
        ParallelAgent(
            name="both",
            sub_agents=[
                agent("researcher", tools=[search]),
                agent("writer", instruction=manner, tools=[note]),
                Ticker(name="ticker"),
            ],
        ),
        agent("boss", instruction="Found KNOWN.", tools=[AgentTool(checker)]),
        LAST
    ],
)
'''


def team(folder: Path, *, last: str = "", known: str = "{found_north?}") -> str:
    """Return the app's code. Each live call of a model or tool adds a line to `live.log`.

    `folder` has that file, and `manner.txt`, which says how the writer must write; `known` is in
    the instructions of other agents.
    """
    text = TEAM.replace("LOG", str(folder / "live.log"))
    text = text.replace("MANNER", str(folder / "manner.txt"))
    return text.replace("KNOWN", known).replace("LAST", last)
