"""Agents that get stuck, each for a different reason, until a test creates a file.

The file's name has no suffix of an agent's files: devui would reload the app.
"""

_HEAD = """
import asyncio
import pathlib
import time

from devui.runtime.agents import Agent, BaseAgent, ParallelAgent
from devui.runtime.events import Event
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool

GATE = pathlib.Path(__file__).parent / "go"


def calls(tool, **args):
    script = [Rule(after=tool, then=Say("done")), Rule(then=Call(tool, **args))]
    return ScriptedLlm(model="scripted", rules=script)


async def until_told():
    while not GATE.exists():
        await asyncio.sleep(0.02)
"""

THREAD = (
    _HEAD
    + """
def fetch(url: str) -> str:
    while not GATE.exists():
        time.sleep(0.02)  # in a thread
    return url


root_agent = Agent(name="fetcher", model=calls("fetch", url="https://a.example"), tools=[fetch])
"""
)

SLEEPING = (
    _HEAD
    + """
async def look_up(city: str) -> str:
    await until_told()  # in the tool
    return city


root_agent = Agent(name="finder", model=calls("look_up", city="Oslo"), tools=[look_up])
"""
)

MODEL = (
    _HEAD
    + """
class Slow(ScriptedLlm):
    async def generate_content_async(self, llm_request, stream=False):
        await until_told()  # in the model
        async for answer in super().generate_content_async(llm_request, stream):
            yield answer


root_agent = Agent(name="thinker", model=Slow(model="slow-one", rules=[Rule(then=Say("done"))]))
"""
)

BLOCKED = (
    _HEAD
    + """
async def crunch(numbers: int) -> str:
    while not GATE.exists():
        time.sleep(0.02)  # on the loop
    return "crunched"


root_agent = Agent(name="cruncher", model=calls("crunch", numbers=3), tools=[crunch])
"""
)

DEADLOCK = (
    _HEAD
    + """
async def both(first, second, met):
    async with first:
        await met.wait()
        async with second:  # never
            return "never"


class Locked(BaseAgent):
    async def _run_async_impl(self, ctx):
        left, right, met = asyncio.Lock(), asyncio.Lock(), asyncio.Barrier(2)
        await asyncio.gather(both(left, right, met), both(right, left, met))
        yield Event(author=self.name)


root_agent = Locked(name="locked")
"""
)

ASKING = (
    _HEAD
    + """
def refund(amount: int) -> str:
    return f"refunded {amount}"


tool = FunctionTool(refund, require_confirmation=True)
root_agent = Agent(name="cashier", model=calls("refund", amount=20), tools=[tool])
"""
)

BRANCHES = (
    _HEAD
    + """
async def slow(where: str) -> str:
    await until_told()  # in the slow branch
    return where


def quick(where: str) -> str:
    return where


def searcher(name, tool):
    return Agent(name=name, model=calls(tool.__name__, where=name), tools=[tool])


sub_agents = [searcher("left", quick), searcher("right", slow), searcher("middle", quick)]
root_agent = ParallelAgent(name="search", sub_agents=sub_agents)
"""
)

TOOLS = (
    _HEAD
    + """
async def slow(where: str) -> str:
    await until_told()  # in the slow call
    return where


def quick(where: str) -> str:
    return where


both = [Call("slow", where="far"), Call("quick", where="near")]
script = [Rule(after="quick", then=Say("done")), Rule(then=both)]
root_agent = Agent(name="mover", model=ScriptedLlm(rules=script), tools=[slow, quick])
"""
)

TWICE = TOOLS.replace('Call("quick"', 'Call("slow"').replace('after="quick"', 'after="slow"')

STUBBORN = (
    _HEAD
    + """
async def look_up(city: str) -> str:
    while not GATE.exists():
        try:
            await asyncio.sleep(0.02)
        except asyncio.CancelledError:
            print("not me")
    return city


root_agent = Agent(name="finder", model=calls("look_up", city="Oslo"), tools=[look_up])
"""
)

HANDLED = (
    _HEAD
    + """
async def look_up(city: str) -> str:
    await until_told()
    return city


def sorry(tool, args, tool_context, error):
    return {"sorry": f"{type(error).__name__}: {error}"}


root_agent = Agent(
    name="finder",
    model=calls("look_up", city="Oslo"),
    tools=[look_up],
    on_tool_error_callback=sorry,
)
"""
)

DECLARED = (
    _HEAD
    + """
from google.genai import types


class Quote(FunctionTool):
    def _get_declaration(self):
        declared = super()._get_declaration()
        declared.response_json_schema = {
            "type": "object",
            "properties": {"price": {"type": "number", "minimum": 0}, "from": {"type": "string"}},
            "required": ["price"],
        }
        return declared


async def quote(city: str) -> dict:
    await until_told()
    return {"price": 1}


root_agent = Agent(name="clerk", model=calls("quote", city="Oslo"), tools=[Quote(quote)])
"""
)

STREAMED = (
    _HEAD
    + """
from devui.runtime.models.llm_response import LlmResponse
from google.genai import types


class Halting(ScriptedLlm):
    async def generate_content_async(self, llm_request, stream=False):
        part = types.Part(text="It was a dark")
        yield LlmResponse(content=types.Content(role="model", parts=[part]), partial=True)
        await until_told()
        async for answer in super().generate_content_async(llm_request, stream):
            yield answer


root_agent = Agent(name="teller", model=Halting(model="slow-one", rules=[Rule(then=Say("done"))]))
"""
)

APPS = {
    "stubborn": STUBBORN,
    "handled": HANDLED,
    "declared": DECLARED,
    "streamed": STREAMED,
    "thread": THREAD,
    "sleeping": SLEEPING,
    "model": MODEL,
    "blocked": BLOCKED,
    "deadlock": DEADLOCK,
    "asking": ASKING,
    "branches": BRANCHES,
    "tools": TOOLS,
    "twice": TWICE,
}
