"""Generated cases: the plugins that come with the runtime, in any combination.

The same number gives the same case on every machine.
"""

import random
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from typing import Any

from google.genai import types

from tests.differential.case import Case, add
from tests.differential.script import Answer, Boom, Error, Raise, Say, call

TURNS, NUMBERS = 4, 25


async def look(n: int) -> dict[str, int]:
    """Looks."""
    return {"seen": n}


async def fall(n: int) -> str:
    """Falls now and then."""
    if n % 3:
        raise Boom(f"boom {n}")
    return f"fell {n}"


async def draw(n: int) -> list[types.Part]:
    """Draws."""
    return [types.Part(text=f"picture {n}"), types.Part(text="of a house")]


class Plugins:
    """Makes some of the plugins, each at most once."""

    def __init__(self, stage: Any, dice: random.Random) -> None:
        self._stage, self._dice = stage, dice

    def some(self) -> list[Any]:
        """Return two to four plugins in random order."""
        kinds = ["filter", "instruction", "tools", "models", "media", "integrity", "log"]
        sample = self._dice.sample(kinds, self._dice.randrange(2, 5))
        return [getattr(self, f"_{kind}")() for kind in sample]

    def _filter(self) -> Any:
        count = self._dice.choice([1, 2, None])
        shorten = self._dice.choice([None, lambda contents: contents[-3:]])
        ns = self._stage.ns
        return ns.ContextFilterPlugin(num_invocations_to_keep=count, custom_filter=shorten)

    def _instruction(self) -> Any:
        text = self._dice.choice(["Case: all {who?}", lambda context: "Case: {told}"])
        return self._stage.ns.GlobalInstructionPlugin(global_instruction=text)

    def _tools(self) -> Any:
        ns, scope = self._stage.ns, self._dice.choice(["INVOCATION", "GLOBAL"])
        return ns.ReflectAndRetryToolPlugin(
            max_retries=self._dice.randrange(3),
            throw_exception_if_retry_exceeded=self._dice.random() < 0.4,
            tracking_scope=ns.TrackingScope[scope],
        )

    def _models(self) -> Any:
        return self._stage.ns.ReflectAndRetryModelPlugin(max_retries=self._dice.randrange(3))

    def _media(self) -> Any:
        return self._stage.ns.MultimodalToolResultsPlugin()

    def _integrity(self) -> Any:
        return self._stage.ns.ToolCallIntegrityPlugin(secret_key=b"secret")

    def _log(self) -> Any:
        return self._stage.ns.LoggingPlugin()


def _answers(dice: random.Random) -> list[Answer]:
    answers: list[Answer] = []
    for number in range(24):
        kind = dice.choice(["text", "text", "look", "fall", "draw", "two", "error"])
        if kind == "text":
            answers.append(Say(f"Words {number}.", chunks=dice.choice([1, 3])))
        elif kind == "error":
            answers.append(dice.choice([Error(), Raise()]))
        elif kind == "two":
            answers.append([call("look", n=number), call("fall", n=number)])
        else:
            answers.append(call(kind, n=number))
    return answers


def _message(dice: random.Random, turn: int) -> list[types.Part]:
    parts = [types.Part(text=f"turn {turn}")]
    if dice.random() < 0.3:
        name = dice.choice(["a.txt", None])
        blob = types.Blob(data=b"data", mime_type="text/plain", display_name=name)
        parts.append(types.Part(inline_data=blob))
    return parts


async def combined(stage, number: int) -> None:
    """Play an agent with some plugins, over several turns."""
    dice = random.Random(f"plugins {number}")
    plugins = Plugins(stage, dice).some()
    agent = stage.agent("agent", *_answers(dice), tools=[look, fall, draw])
    await stage.open(agent, plugins=plugins, state={"who": "us"})
    for turn in range(TURNS):
        say = stage.stream if dice.random() < 0.25 else stage.say
        with redirect_stdout(StringIO()):  # the output of LoggingPlugin
            await say(_message(dice, turn))


for _number in range(NUMBERS):
    add(Case(f"plugins together {_number}", partial(combined, number=_number)))
