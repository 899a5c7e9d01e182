"""Generated cases: answers with plans and code in any order, and random results of the code.

The same number gives the same case on every machine.
"""

import random
from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add
from tests.differential.script import Answer, Boom, Raw, Say, Step, call
from tests.kit.rounds import rounds

CODERS, PLANNERS = rounds(15, 30), rounds(12, 25)
TURNS = 3
ANSWERS = 12

PIECES = (
    "Words.",
    "```python\nprint(1)\n```",
    "```tool_code\nprint(2)\n```",
    "```python\n\n```",
    "```python\nprint(3)",
    "```\nprint(4)\n```",
    "```python\nprint('```')\n```",
    "\n\n",
    "`x` and ```",
)
TAGS = ("/*PLANNING*/", "/*ACTION*/", "/*REASONING*/", "/*REPLANNING*/", "/*FINAL_ANSWER*/", "/*")


async def look(n: int) -> dict[str, int]:
    """Looks."""
    return {"seen": n}


class Answers:
    """Makes random answers from the given pieces."""

    def __init__(self, dice: random.Random, pieces: tuple[str, ...]) -> None:
        self._dice, self._pieces, self._count = dice, pieces, 0

    def some(self) -> list[Answer]:
        """Return answers for all turns."""
        return [self._answer() for _ in range(ANSWERS)]

    def _answer(self) -> Answer:
        kind = self._dice.choice(["text", "text", "text", "parts", "call", "raw"])
        if kind == "raw":
            return self._raw()
        steps: list[Step] = [self._said() for _ in range(2 if kind == "parts" else 1)]
        if kind == "call":
            self._count += 1
            steps.insert(self._dice.randrange(2), call("look", n=self._count))
        if self._dice.random() < 0.2:
            steps.insert(0, Say(self._text(), thought=True))
        return steps

    def _said(self) -> Say:
        return Say(self._text(), chunks=self._dice.choice([1, 1, 3]))

    def _text(self) -> str:
        self._count += 1
        pieces = [self._dice.choice(self._pieces) for _ in range(self._dice.randrange(1, 4))]
        return self._dice.choice([" ", "\n"]).join([*pieces, f"Number {self._count}."])

    def _raw(self) -> Raw:
        code = types.ExecutableCode(code="print(5)", language=types.Language.PYTHON)
        parts = [types.Part(text=self._text()), types.Part(executable_code=code)]
        self._dice.shuffle(parts)
        return Raw({"content": types.Content(role="model", parts=parts)})


def _executor(stage: Any, dice: random.Random) -> Any:
    ns = stage.ns

    class Random(ns.BaseCodeExecutor):
        def execute_code(self, invocation_context, code_execution_input):
            code_input = code_execution_input
            names = [file.name for file in code_input.input_files]
            stage.note("run", code_input.code, names, code_input.execution_id)
            kind = dice.choice(["output", "output", "nothing", "error", "both", "files", "raises"])
            if kind == "raises":
                raise Boom("boom")
            files = [
                ns.File(name=f"{dice.choice('ab')}.txt", content="YQ==", mime_type="text/plain")
            ]
            return ns.CodeExecutionResult(
                stdout="42" if kind in ("output", "both") else "",
                stderr="wrong" if kind in ("error", "both") else "",
                output_files=files if kind == "files" else [],
            )

    return Random(error_retry_attempts=dice.choice([0, 1, 2]), stateful=dice.random() < 0.3)


async def coder(stage, number: int) -> None:
    """Play an agent that writes code, over several turns."""
    dice = random.Random(f"code {number}")
    fields: dict[str, Any] = {"code_executor": _executor(stage, dice)}
    if dice.random() < 0.3:
        fields["output_key"] = "said"
    answers = Answers(dice, PIECES).some()
    await _play(stage, dice, stage.agent("agent", *answers, tools=[look], **fields))


async def planner(stage, number: int) -> None:
    """Play an agent that plans, sometimes with code, over several turns."""
    dice = random.Random(f"plan {number}")
    fields: dict[str, Any] = {"planner": stage.ns.PlanReActPlanner()}
    if dice.random() < 0.3:
        fields["output_key"] = "said"
    if dice.random() < 0.3:
        fields["code_executor"] = _executor(stage, dice)
    answers = Answers(dice, (*TAGS, *TAGS, *PIECES[:2])).some()
    await _play(stage, dice, stage.agent("agent", *answers, tools=[look], **fields))


async def _play(stage: Any, dice: random.Random, root: Any) -> None:
    await stage.open(root)
    streamed = [dice.random() < 0.3 for _ in range(TURNS)]
    for turn, stream in enumerate(streamed):
        await (stage.stream if stream else stage.say)(f"turn {turn}")


for _number in range(CODERS):
    add(Case(f"an agent that writes code {_number}", partial(coder, number=_number)))
for _number in range(PLANNERS):
    add(Case(f"an agent that plans {_number}", partial(planner, number=_number)))
