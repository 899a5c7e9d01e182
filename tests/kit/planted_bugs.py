"""Three apps with a bug each, their users' complaints, and how a coding agent hunts bugs.

The policy is fixed: it knows the complaint, the code, and what the skill and the descriptions of
the tools say about devui. The skill's table of symptoms says which step to start with.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.kit.server import write_app


@dataclass(frozen=True)
class Bug:
    """An app, the messages to send, its user's complaint, and the function that is wrong."""

    app: str
    code: str
    messages: tuple[str, ...]
    complaint: str
    right: str
    """What the last answer says once the bug is fixed."""
    function: str
    wrong_line: str
    mended_line: str


PARTY = '''
from devui.runtime.agents import Agent, SequentialAgent
from devui.runtime.apps import App, ResumabilityConfig
from devui.runtime.models.scripted_llm import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import ToolContext


def count_party(adults: int, children: int, tool_context: ToolContext) -> dict:
    """Note how many people travel."""
    tool_context.state["guests"] = adults
    return {"guests": adults + children}


def find_fare(tool_context: ToolContext) -> dict:
    """Look up what a ticket costs."""
    tool_context.state["fare"] = 20
    return {"fare": 20}


def price_tickets(tool_context: ToolContext) -> dict:
    """Price the tickets of the party."""
    tool_context.state["total"] = tool_context.state["guests"] * tool_context.state["fare"]
    return {"total": tool_context.state["total"]}


def agent(name, tool, **args):
    rules = [Rule(after=tool.__name__, then=Say("Noted.")), Rule(then=Call(tool.__name__, **args))]
    return Agent(name=name, model=ScriptedLlm(rules=rules), tools=[tool])


def offer(context) -> str:
    return f"Say that the tickets cost {context.state['total']}."


def read_offer(tool_context: ToolContext) -> dict:
    """Read the offer."""
    return {"total": tool_context.state["total"]}


steps = [
    agent("counter", count_party, adults=2, children=1),
    agent("finder", find_fare),
    agent("pricer", price_tickets),
    Agent(
        name="writer",
        model=ScriptedLlm(
            rules=[
                Rule(after="read_offer", then=Say("The tickets cost {result.total}.")),
                Rule(then=Call("read_offer")),
            ]
        ),
        tools=[read_offer],
    ),
]
app = App(
    name="party",
    root_agent=SequentialAgent(name="desk", sub_agents=steps),
    resumability_config=ResumabilityConfig(is_resumable=True),
)
root_agent = app.root_agent
'''
CURRENCY = '''
from devui.runtime.agents import Agent
from devui.runtime.models import BaseLlm, LlmResponse
from google.genai import types

HOUSE_RULES = [
    "You sell train tickets.",
    "Be brief.",
    "Prices are in francs.",
]


def instruction(context) -> str:
    """The house rules; the longer the conversation, the less of them is needed."""
    turns = sum(event.author == "user" for event in context.session.events)
    return "\\n".join(HOUSE_RULES[: 4 - turns])


class Seller(BaseLlm):
    """Reads the prompt, as a model does."""

    async def generate_content_async(self, llm_request, stream=False):
        told = str(llm_request.config.system_instruction)
        currency = "francs" if "francs" in told else "dollars"
        part = types.Part(text=f"That is 30 {currency}.")
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


root_agent = Agent(name="seller", model=Seller(model="seller"), instruction=instruction)
'''
PAYMENT = '''
from devui.runtime.agents import Agent
from devui.runtime.models import BaseLlm, LlmResponse
from google.genai import types


def charge(amount: int) -> dict:
    """Charge the customer's card."""
    return {"charged": amount, "receipt": f"R-{amount}"}


def tidy(tool, args, tool_context, tool_response):
    """Keep out of the prompt what the model has said itself."""
    return {key: value for key, value in tool_response.items() if value in args.values()}


class Cashier(BaseLlm):
    """Calls the tool until there is a receipt, three times at most."""

    async def generate_content_async(self, llm_request, stream=False):
        answers = [
            part.function_response.response
            for content in llm_request.contents
            for part in content.parts
            if part.function_response
        ]
        receipts = [answer["receipt"] for answer in answers if "receipt" in answer]
        if receipts or len(answers) == 2:
            part = types.Part(text=f"Paid {30 * len(answers)}, receipt {receipts or 'unknown'}.")
        else:
            part = types.Part(function_call=types.FunctionCall(name="charge", args={"amount": 30}))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


root_agent = Agent(
    name="cashier", model=Cashier(model="cashier"), tools=[charge], after_tool_callback=tidy
)
'''
BUGS = (
    Bug(
        app="party",
        code=PARTY,
        messages=("What do tickets for two adults and a child cost?",),
        complaint="The answer has a wrong value: it says 40",
        right="60",
        function="count_party",
        wrong_line="= adults\n",
        mended_line="= adults + children\n",
    ),
    Bug(
        app="currency",
        code=CURRENCY,
        messages=("What is a ticket to Bern?", "And to Chur?"),
        complaint="The model does the wrong thing: it changes to dollars in the second answer",
        right="francs",
        function="instruction",
        wrong_line="HOUSE_RULES[: 4 - turns]",
        mended_line="HOUSE_RULES",
    ),
    Bug(
        app="payment",
        code=PAYMENT,
        messages=("Pay 30, please",),
        complaint="A tool is called twice: charge",
        right="Paid 30, receipt ['R-30']",
        function="tidy",
        wrong_line="if value in args.values()",
        mended_line="if value is not None",
    ),
)


def write(agents: Path, bug: Bug, name: str) -> Path:
    """Write the app under a name of its own, and return its agent.py."""
    return write_app(agents, name, bug.code.replace(f'name="{bug.app}"', f'name="{name}"'))


@dataclass(frozen=True)
class Row:
    number: int
    kind: str
    text: str


@dataclass(frozen=True)
class Write:
    number: int
    tool: str
    value: Any


@dataclass(frozen=True)
class ToolCall:
    name: str
    args: Mapping[str, Any]
    result: Mapping[str, Any]


class Hands(Protocol):
    """What the policy asks of devui, through tools or commands."""

    async def ask(self, app: str, messages: tuple[str, ...]) -> int:
        """Start a session with these messages, and return its number."""

    async def rows(self, session: int, filter_text: str = "") -> list[Row]:
        """Return its events, or those that match a filter."""

    async def state(self, session: int) -> dict[str, Any]: ...

    async def writes(self, session: int, key: str) -> list[Write]: ...

    async def call(self, session: int, event: int) -> ToolCall:
        """Return the call whose result is in an event."""

    async def response(self, session: int, event: int) -> Mapping[str, Any]:
        """Return what an event tells the model about the tool's answer."""

    async def lost(self, session: int, event: int) -> list[str]:
        """Return the texts of the agent's previous prompt that the prompt of an event lacks."""

    async def fork(self, session: int, event: int, state: Mapping[str, Any] | None = None) -> int:
        """Return a fork that has continued from an event."""


@dataclass(frozen=True)
class Cause:
    """The function that is wrong, and the event before the model's answer that led there."""

    function: str
    before: int
    proof: int | None = None
    """A fork in which the right value leads to another answer."""


def last_answer(rows: list[Row]) -> Row:
    """Return the last row with a text."""
    return [row for row in rows if row.kind == "text"][-1]


async def cause_of(hands: Hands, session: int, complaint: str, code: Path) -> Cause:
    """Look at what the skill's table names for a symptom."""
    if "called twice" in complaint:
        return await _called_twice(hands, session, complaint.rsplit(maxsplit=1)[-1], code)
    if "wrong value" in complaint:
        return await _wrong_value(hands, session, int(complaint.rsplit(maxsplit=1)[-1]), code)
    return await _wrong_prompt(hands, session, code)


async def _wrong_value(hands: Hands, session: int, wrong: int, code: Path) -> Cause:
    """Trace the key with the wrong value back through what its writers read.

    The cause is a write that differs from what its tool returned.
    """
    state = await hands.state(session)
    keys = [key for key, value in state.items() if value == wrong]
    for key in keys:  # grows by the keys that the writers read
        write = (await hands.writes(session, key))[-1]
        call = await hands.call(session, write.number)
        result = call.result.get(key, write.value)
        if result != write.value:
            proof = await hands.fork(session, write.number, {key: result})
            return Cause(write.tool, await _before_call(hands, session, write.number), proof)
        keys += [each for each in _keys_read(functions(code)[write.tool]) if each not in keys]
    raise AssertionError(f"no write of {keys} is wrong")


async def _wrong_prompt(hands: Hands, session: int, code: Path) -> Cause:
    """Find the function that makes the line that the last prompt has lost."""
    answer = last_answer(await hands.rows(session)).number
    [line] = [each for each in await hands.lost(session, answer) if each.strip()]
    sources = functions(code)
    constants = [
        ast.unparse(node.targets[0])
        for node in _parse(code).body
        if isinstance(node, ast.Assign) and line.strip() in ast.unparse(node.value)
    ]
    [name] = [name for name, text in sources.items() if any(each in text for each in constants)]
    return Cause(name, answer - 1)


async def _called_twice(hands: Hands, session: int, tool: str, code: Path) -> Cause:
    """Compare what the tool returned with what its event tells the model.

    If the two differ, find the function that may change it.
    """
    rows = await hands.rows(session, f"tool:{tool}")
    results = [row.number for row in rows if row.kind in {"result", "response"}]
    calls = [await hands.call(session, number) for number in results]
    assert len(calls) == 2
    assert calls[0].args == calls[1].args
    sources = functions(code)
    response = await hands.response(session, results[0])
    changing = [name for name, text in sources.items() if "tool_response" in text]
    before = await _before_call(hands, session, results[0])
    return Cause(tool if response == calls[0].result else changing[0], before)


async def _before_call(hands: Hands, session: int, result: int) -> int:
    """Return the event before the call with this result: a fork at the call itself can't run."""
    earlier = [row for row in await hands.rows(session) if row.number < result]
    return [row.number for row in earlier if row.kind == "call"][-1] - 1


def functions(code: Path) -> dict[str, str]:
    """Return the functions of a file by name."""
    nodes = [each for each in _parse(code).body if isinstance(each, ast.FunctionDef)]
    return {node.name: ast.unparse(node) for node in nodes}


def _parse(code: Path) -> ast.Module:
    return ast.parse(code.read_text(encoding="utf-8"))


def _keys_read(source: str) -> Iterator[str]:
    yield from dict.fromkeys(re.findall(r"state\['(\w+)'\]", source))


def mend(code: Path, bug: Bug, function: str) -> None:
    """Fix the line, which must be in the function."""
    text = code.read_text(encoding="utf-8")
    begin = text.index(f"def {function}(")
    place = text.index(bug.wrong_line, begin)
    assert "\ndef " not in text[begin + 1 : place], f"{function} has nothing to mend"
    after = text[place:].replace(bug.wrong_line, bug.mended_line, 1)
    code.write_text(text[:place] + after, encoding="utf-8")
