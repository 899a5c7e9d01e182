"""Rewound sessions: their history, state and artifacts."""

import random
from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add, case
from tests.differential.differing import KEPT_STATE
from tests.differential.script import Answer, call, transfer
from tests.kit.rounds import rounds

KEYS = ("a", "b", "user:a", "app:a", "temp:a")
FILES = ("f.txt", "g.txt", "user:f.txt")
JOURNEYS = rounds(12, 25)


async def write(tool_context, key: str, value: Any) -> str:
    """Writes state."""
    tool_context.state[key] = value
    return "written"


async def save(tool_context, name: str, text: str) -> int:
    """Saves a file."""
    return await tool_context.save_artifact(name, types.Part(text=text))


def _turn(dice: random.Random, number: int) -> list[Answer]:
    calls = []
    for _ in range(dice.randrange(3)):
        if dice.random() < 0.6:
            value = dice.choice([number, None, [number]])
            calls.append(call("write", key=dice.choice(KEYS), value=value))
        else:
            calls.append(call("save", name=dice.choice(FILES), text=f"of turn {number}"))
    return [*([calls] if calls else []), f"Answer {number}."]


async def _journey(stage, number):
    """Turns that write and save, with rewinds between them."""
    dice = random.Random(f"journey {number}")
    answers = [answer for turn in range(8) for answer in _turn(dice, turn)]
    await stage.open(stage.agent("agent", *answers, tools=[write, save]))
    for turn in range(8):
        events = await stage.say(f"turn {turn}")
        if events and dice.random() < 0.4:
            await stage.rewind(dice.choice(stage.events).invocation_id)
    for name in FILES:
        where = {"app_name": "app", "user_id": "u", "session_id": "s"}
        part = await stage.runner.artifact_service.load_artifact(**where, filename=name)
        stage.note(name, part.text if part else None)


for _number in range(JOURNEYS):
    add(Case(f"a session with steps back {_number}", partial(_journey, number=_number)))


@case()
async def an_invocation_that_does_not_exist_is_taken_back(stage):
    await stage.open(stage.agent("agent", "One.", "Two."))
    await stage.say("a")
    await stage.rewind("e-none")
    await stage.say("b")


@case()
async def a_transfer_is_taken_back(stage):
    child = stage.agent("child", "I am the child.", "Still me.")
    root = stage.agent("root", transfer("child"), "I am the root.", sub_agents=[child])
    await stage.open(root)
    await stage.say("a")
    await stage.rewind(stage.events[0].invocation_id)
    await stage.say("b")


@case()
async def a_call_that_waits_is_taken_back(stage):
    def wait() -> None:
        """Waits."""

    tool = stage.ns.LongRunningFunctionTool(wait)
    await stage.open(stage.agent("agent", call("wait"), "Next.", tools=[tool]))
    await stage.say("a")
    answer = stage.answer(stage.call("wait"), result="done")
    await stage.rewind(stage.events[0].invocation_id)
    await stage.say(answer)
    await stage.say("b")


@case()
async def a_session_is_taken_back_twice(stage):
    await stage.open(stage.agent("agent", "One.", "Two.", "Three.", "Four."))
    for word in ("a", "b", "c"):
        await stage.say(word)
    await stage.rewind(stage.events[2].invocation_id)
    await stage.rewind(stage.events[1].invocation_id)
    await stage.say("d")


@case()
async def a_session_is_taken_back_to_its_beginning(stage):
    await stage.open(stage.agent("agent", "One.", "Two.", output_key="said"))
    await stage.say("a")
    await stage.rewind(stage.events[0].invocation_id)
    await stage.say("b")


@case()
async def a_loop_is_taken_back(stage):
    agents = [stage.agent("one", *"ABCD", output_key="one")]
    root = stage.ns.LoopAgent(name="loop", max_iterations=2, sub_agents=agents)
    await stage.open(root, resumable=True)
    await stage.say("a")
    await stage.rewind(stage.events[0].invocation_id)
    await stage.say("b")


@case(differs=KEPT_STATE)
async def a_session_that_was_given_state_is_taken_back(stage):
    agent = stage.agent("agent", call("write", key="a", value=2), "One.", "Two.", tools=[write])
    await stage.open(agent, state={"a": 1, "b": 1})
    await stage.say("a")
    await stage.rewind(stage.events[0].invocation_id)
    await stage.say("b")
