from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.apps.app import ResumabilityConfig
from google.adk.tools import FunctionTool, ToolContext

from .model import ExpensesModel
from .plugins import AuditPlugin


def reimburse(amount: int, tool_context: ToolContext) -> dict:
    """Pays an amount back.

    Args:
        amount: In euros.
    """
    tool_context.state["paid"] = tool_context.state.get("paid", 0) + amount
    return {"status": "paid", "amount": amount}


root_agent = LlmAgent(
    name="expenses",
    model=ExpensesModel(model="expenses-model"),
    instruction="Reimburse what the user asks for.",
    tools=[FunctionTool(reimburse, require_confirmation=lambda amount, **_: amount > 100)],
)

app = App(
    name="expenses",
    root_agent=root_agent,
    plugins=[AuditPlugin()],
    resumability_config=ResumabilityConfig(is_resumable=True),
)
