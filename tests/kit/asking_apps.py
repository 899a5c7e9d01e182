"""Agents that ask people for confirmation, input, a credential, or the result of a long call."""

ASKS = '''
from devui.runtime.agents import Agent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import FunctionTool, request_input


def pay(amount: int) -> str:
    """Pays."""
    return f"paid {amount}"


DETAILS = {
    "type": "object",
    "properties": {"seats": {"type": "integer"}, "window": {"type": "boolean"}},
    "required": ["seats", "window"],
}
script = [
    Rule(after="pay", then=Say("{result}")),
    Rule(after="adk_request_input", then=Say("So {result}.")),
    Rule(user="pay", then=[Call("pay", amount=5), Call("pay", amount=7)]),
    Rule(user="seats", then=Call("adk_request_input", message="Which?", response_schema=DETAILS)),
    Rule(then=Say("hello")),
]
root_agent = Agent(
    name="asker",
    model=ScriptedLlm(rules=script),
    tools=[FunctionTool(pay, require_confirmation=True), request_input],
)
'''

NEEDS_KEY = '''
from devui.runtime.agents import Agent
from devui.runtime.auth import AuthConfig
from devui.runtime.auth.auth_schemes import APIKey
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools import LongRunningFunctionTool

KEY = AuthConfig(auth_scheme=APIKey(**{"in": "header", "name": "X-Key"}))


def read(tool_context) -> dict:
    """Reads."""
    credential = tool_context.get_auth_response(KEY)
    if credential is None:
        tool_context.request_credential(KEY)
        return {"status": "a key is needed"}
    return {"characters": len(credential.api_key)}


async def ask_boss(what: str) -> None:
    """Asks the boss."""


script = [
    Rule(after="read", then=Say("{result}")),
    Rule(after="ask_boss", then=Say("the boss says {result}")),
    Rule(user="boss", then=Call("ask_boss", what="leave")),
    Rule(then=Call("read")),
]
root_agent = Agent(
    name="reader",
    model=ScriptedLlm(rules=script),
    tools=[read, LongRunningFunctionTool(ask_boss)],
)
'''
