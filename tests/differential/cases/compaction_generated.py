"""Generated cases: conversations that are compacted repeatedly.

The same number gives the same case on every machine.
"""

import random
from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add
from tests.differential.cases.compaction import USAGE, counting, look
from tests.differential.script import Answer, Error, Raw
from tests.kit.rounds import rounds

COMPACTED = rounds(20, 40)
TURNS = 8


class Speaker:
    """Makes model answers with token counts."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._tokens = 0

    def answers(self, name: str, target: str, *, talks: bool) -> list[Answer]:
        """Return many answers: texts and errors and, unless it `talks`, calls and transfers."""
        answers: list[Answer] = []
        kinds = ["text", "text", "text", "error", *([] if talks else ["call", "calls", "transfer"])]
        for number in range(3 * TURNS):
            kind = self._dice.choice(kinds)
            if kind == "error" and self._dice.random() < 0.3:
                answers.append(Error())
            elif kind == "transfer":
                answers.append(self._said(_call("transfer_to_agent", agent_name=target)))
            elif kind in ("call", "calls"):
                answers.append(self._said(*[_call("look")] * (1 if kind == "call" else 2)))
            else:
                answers.append(self._said(types.Part(text=f"{name} says {number}.")))
        return answers

    def _said(self, *parts: types.Part) -> Raw:
        self._tokens = self._dice.randrange(200)
        content = types.Content(role="model", parts=list(parts))
        return Raw({"content": content, "usage_metadata": USAGE(prompt_token_count=self._tokens)})


def _call(name: str, **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


async def compacted(stage, number: int) -> None:
    """Play two agents that transfer to each other, over many turns."""
    dice = random.Random(f"compacted {number}")
    settings = {"compaction_interval": dice.randrange(1, 4), "overlap_size": dice.randrange(3)}
    by_tokens = dice.random() < 0.3
    if by_tokens:
        settings |= {"token_threshold": dice.choice([50, 120, 180])}
        settings |= {"event_retention_size": dice.randrange(5)}
    speaker = Speaker(dice)
    # With calls, the two runtimes estimate the size of an unmeasured prompt differently.
    below = stage.agent("below", *speaker.answers("below", "root", talks=by_tokens), tools=[look])
    answers = speaker.answers("root", "below", talks=by_tokens)
    root = stage.agent("root", *answers, tools=[look], sub_agents=[below])
    summarizer = counting(stage, dice.choice([0, 0, 30]))
    await stage.open(root, compaction={"summarizer": summarizer, **settings})
    for turn in range(TURNS):
        say = stage.stream if dice.random() < 0.2 else stage.say
        await say(f"turn {turn}")
        if dice.random() < 0.1:
            await stage.rewind(stage.events[-1].invocation_id)


for _number in range(COMPACTED):
    add(Case(f"summed up again and again {_number}", partial(compacted, number=_number)))
