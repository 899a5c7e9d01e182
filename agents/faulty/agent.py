"""FaultyAgent fails on request, in every way that agent code can fail."""

import asyncio
import logging
import os
import sys

from devui.runtime.agents import Agent
from devui.runtime.models.scripted_llm import Call, Fail, Rule, Say, ScriptedLlm
from devui.runtime.tools import ToolContext

from . import bill

GEMINI = os.environ.get("DEVUI_MODEL") if os.environ.get("GOOGLE_API_KEY") else None

logger = logging.getLogger("faulty")


def divide(dividend: int, divisor: int) -> float:
    """Divide two numbers.

    Args:
        dividend: What is divided.
        divisor: By what it is divided.
    """
    logger.info("dividing %s by %s", dividend, divisor)
    return dividend / divisor


async def loop_forever() -> None:
    """Loop forever, yielding to the event loop each time, so that it can be cancelled."""
    while True:  # noqa: ASYNC110 - there is nothing to wait for
        await asyncio.sleep(0)


async def spin_forever() -> None:
    """Loop forever without yielding: nothing else in this process runs again."""
    while True:
        pass


def leave() -> None:
    """End the whole process, as a script would."""
    sys.exit(3)


def crash() -> None:
    """Abort the whole process, as a crash in native code would."""
    os.abort()


def write_and_fail(tool_context: ToolContext) -> None:
    """Write to the state and fail before anything is committed."""
    tool_context.state["draft"] = "this write is lost"
    raise RuntimeError("the power went out before the commit")


SCRIPT = [
    *bill.SCRIPT,
    Rule(
        user=r"\bsafety\b",
        then=[
            Say("Well, the first thing you need is", chunks=3, delay=0.06),
            Fail("SAFETY_FILTER_TRIGGERED", "Response blocked due to safety settings."),
        ],
    ),
    Rule(user=r"\bdivide\b", then=Call("divide", dividend=1, divisor=0)),
    Rule(user=r"\bloop\b", then=Call("loop_forever")),
    Rule(user=r"\bspin\b", then=Call("spin_forever")),
    Rule(user=r"\bexit\b", then=Call("leave")),
    Rule(user=r"\bcrash\b", then=Call("crash")),
    Rule(user=r"\blose\b", then=Call("write_and_fail")),
    Rule(then=Say("How shall I fail? Try *divide by zero*, *exit* or *loop forever*.", chunks=6)),
]

root_agent = Agent(
    name="FaultyAgent",
    description="Fails on request, in the way you choose.",
    model=GEMINI or ScriptedLlm(model="scripted-faulty", rules=SCRIPT),
    instruction="Call the tool that fails in the way the user asks for.",
    tools=[
        divide,
        loop_forever,
        spin_forever,
        leave,
        crash,
        write_and_fail,
        bill.read_bill,
        bill.take_voucher,
        bill.split_bill,
    ],
)
