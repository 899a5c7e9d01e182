"""A graph that decides on refunds: small ones at once, large ones with a manager's approval."""

import os
import re
from collections.abc import AsyncIterator
from typing import Any

from pydantic import BaseModel

from devui.runtime import Context, Event, Workflow
from devui.runtime.agents import Agent
from devui.runtime.events import RequestInput
from devui.runtime.models import Rule, Say, ScriptedLlm
from devui.runtime.workflow import START, JoinNode, node

GEMINI = os.environ.get("DEVUI_MODEL") if os.environ.get("GOOGLE_API_KEY") else None

ORDERS = {
    "1041": {"item": "a lamp", "price": 35, "days": 6},
    "2077": {"item": "a sofa", "price": 840, "days": 12},
    "3300": {"item": "a kettle", "price": 49, "days": 61},
}
ALLOWED_DAYS = 30
WITHOUT_ASKING = 100
"""The highest price in euros that is refunded without asking a manager."""


class Decision(BaseModel):
    """The decision on a refund."""

    outcome: str
    item: str
    price: int


def read_ticket(ctx: Context, node_input: str) -> str | None:
    """Find the order that the message mentions."""
    match = re.search(r"\b(\d{4})\b", node_input)
    is_known = match is not None and match[1] in ORDERS
    ctx.route = "known" if is_known else "unknown"
    if not is_known:
        return None
    ctx.state["order"] = match[1]
    return match[1]


def check_price(node_input: str) -> int:
    """Look up the price of the order."""
    return ORDERS[node_input]["price"]


def check_age(node_input: str) -> int:
    """Look up how many days ago it was delivered."""
    return ORDERS[node_input]["days"]


def assess(ctx: Context, node_input: dict[str, int]) -> Event:
    """Choose the route."""
    price = node_input["check_price"]
    if node_input["check_age"] > ALLOWED_DAYS:
        return Event(output=price, route="too late")
    return Event(output=price, route="at once" if price <= WITHOUT_ASKING else "ask")


@node(rerun_on_resume=True)
async def ask_manager(ctx: Context, node_input: int, order: str) -> AsyncIterator[Any]:
    """Wait for the manager, for days if necessary."""
    question = f"manager-{ctx.invocation_id}"  # must be the same when this runs again
    answer = ctx.resume_inputs.get(question)
    if answer is None:
        yield Event(message=f"A refund of € {node_input} needs a manager's approval.")
        yield RequestInput(
            interrupt_id=question,
            message=f"Refund € {node_input} for order {order}?",
            response_schema=bool,
        )
        return
    ctx.route = "yes" if answer else "no"
    yield node_input


def pay(node_input: int, order: str) -> Decision:
    """Refund the money. Done once, no matter how often the run is resumed."""
    return Decision(outcome="refunded", item=ORDERS[order]["item"], price=node_input)


def refuse(node_input: int, order: str) -> Decision:
    """Refuse the refund."""
    return Decision(outcome="refused", item=ORDERS[order]["item"], price=node_input)


def ask_again() -> str:
    """Ask for an order: without one, nothing can be decided."""
    return "unknown order"


SCRIPT = [
    Rule(
        user=r'"refunded", "item": "(?P<item>[^"]+)", "price": (?P<price>\d+)',
        then=Say("Good news: € {price} for {item} are on the way to you.", chunks=8, delay=0.05),
    ),
    Rule(
        user=r'"refused", "item": "(?P<item>[^"]+)"',
        then=Say("I am sorry, we cannot refund {item}.", chunks=6, delay=0.05),
    ),
    Rule(then=Say("Which order is it about? Its number has four digits.", chunks=6, delay=0.05)),
]

write_reply = Agent(
    name="write_reply",
    description="Tells the customer about the decision.",
    model=GEMINI or ScriptedLlm(model="scripted-refunds", rules=SCRIPT),
    instruction="Tell the customer politely, in one sentence, what was decided. If the order is"
    " unknown, ask for its number, which has four digits.",
)

root_agent = Workflow(
    name="refunds",
    description="Decides on refund requests.",
    edges=[
        (START, read_ticket, {"known": (check_price, check_age), "unknown": ask_again}),
        ((check_price, check_age), JoinNode(name="facts"), assess),
        (assess, {"at once": pay, "ask": ask_manager, "too late": refuse}),
        (ask_manager, {"yes": pay, "no": refuse}),
        ((pay, refuse, ask_again), write_reply),
    ],
)
