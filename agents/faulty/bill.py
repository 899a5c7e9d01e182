"""Tools for the bill of a table. One has a bug, which docs/guide/debugging.md tracks down."""

from devui.runtime.models.scripted_llm import Call, Rule, Say
from devui.runtime.tools import ToolContext


def read_bill(table: int, tool_context: ToolContext) -> dict[str, float]:
    """Read the bill of a table and its number of guests.

    Args:
        table: The number of the table.
    """
    tool_context.state["bill"] = 84.0
    tool_context.state["guests"] = 4
    return {"bill": 84.0, "guests": 4}


def take_voucher(percent: int, tool_context: ToolContext) -> dict[str, int]:
    """Take a voucher off the bill.

    Args:
        percent: What the voucher takes off.
    """
    bill = tool_context.state["bill"]
    tool_context.state["bill"] = bill - bill * percent
    return {"taken": percent}


def split_bill(tool_context: ToolContext) -> dict[str, float]:
    """Split the bill evenly among the guests."""
    share = tool_context.state["bill"] / tool_context.state["guests"]
    if share < 0:
        raise ValueError(f"a share of {share}: nobody is paid for eating")
    return {"share": round(share, 2)}


SCRIPT = [
    Rule(user=r"\bsplit the bill\b", then=Call("read_bill", table=7)),
    Rule(after="read_bill", then=Call("take_voucher", percent=10)),
    Rule(after="take_voucher", then=Call("split_bill")),
    Rule(after="split_bill", then=Say("Each of you pays **{result.share}**.")),
]
