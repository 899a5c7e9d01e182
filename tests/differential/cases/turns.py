"""Users' answers over several turns: pending calls, confirmations, and talk between them."""

import random
from functools import partial
from typing import Any

from tests.differential.case import Case, add
from tests.differential.cases.human import CONFIRM
from tests.differential.differing import CUT_RESPONSES
from tests.differential.script import Answer, Say, call

DIALOGUES = 40
OUT_OF_ORDER = {13, 14, 18, 22, 35, 37}
"""Seeds whose user answers an older call after a newer one."""


def look() -> str:
    """Looks."""
    return "ok"


def pay(amount: int, tool_context: Any) -> str:
    """Pays."""
    confirmation = tool_context.tool_confirmation
    return f"paid {amount} ({confirmation.payload if confirmation else 'unasked'})"


def wait(what: str) -> None:
    """Waits."""


def begin(what: str) -> dict[str, str]:
    """Begins, and goes on later."""
    return {"status": "begun", "what": what}


def some_calls(dice: random.Random) -> Answer:
    """Return one or two calls, the last of which needs the user."""
    question = dice.choice(
        [
            call("pay", amount=dice.randrange(9)),
            call("wait", what="x"),
            call("begin", what="y"),
        ]
    )
    beside = [call("look")] if dice.random() < 0.3 else []
    words = [Say("One moment.")] if dice.random() < 0.3 else []
    return [*words, *beside, question]


async def _answer_some(stage, dice, open_calls):
    """Answer the oldest pending call, with a response that fits its kind."""
    event, index = open_calls.pop(0)
    function_call = event.get_function_calls()[index]
    if function_call.name == CONFIRM:
        response = {"confirmed": dice.random() < 0.6}
        if response["confirmed"] and dice.random() < 0.5:
            response["payload"] = {"by": "Ann"}
    else:
        response = {"result": dice.choice(["done", "failed", 3])}
    await stage.say(stage.answer(event, index, **response))


def _waiting(stage: Any, seen: set[str]) -> list[tuple[Any, int]]:
    """Return the calls since the last look that the user should answer."""
    waiting_calls = []
    for event in stage.events:
        if event.partial or event.id in seen:
            continue
        seen.add(event.id)
        for index, function_call in enumerate(event.get_function_calls()):
            if function_call.id in (event.long_running_tool_ids or ()):
                waiting_calls.append((event, index))
    return waiting_calls


async def dialogues(stage, number: int) -> None:
    """Play an agent that asks, over several turns; the user sometimes talks without answering."""
    dice = random.Random(f"dialogue {number}")
    answers: list[Answer] = []
    for turn in range(8):
        if dice.random() < 0.6:
            answers.append(some_calls(dice))
        answers.append(f"Answer {turn}.")
    pay_tool = stage.ns.FunctionTool(pay, require_confirmation=True)
    later = [stage.ns.LongRunningFunctionTool(each) for each in (wait, begin)]
    agent = stage.agent("agent", *answers, tools=[look, pay_tool, *later])
    await stage.open(agent, resumable=number % 2 == 1)
    open_calls: list[Any] = []
    seen: set[str] = set()
    for turn in range(7):
        if open_calls and dice.random() < 0.75:
            await _answer_some(stage, dice, open_calls)
        else:
            await stage.say(f"turn {turn}")
        open_calls += _waiting(stage, seen)


for _number in range(DIALOGUES):
    _differs = CUT_RESPONSES if _number in OUT_OF_ORDER else None
    add(Case(f"a dialogue with a human {_number}", partial(dialogues, number=_number), _differs))
