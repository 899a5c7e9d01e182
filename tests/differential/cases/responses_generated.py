"""Generated cases: models that answer with responses of any kind.

The same number gives the same case on every machine.
"""

import random
from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add
from tests.differential.script import Answer, Raw
from tests.kit.rounds import rounds

MODELS = rounds(30, 60)
TURNS = 3
CALLS = 12


async def look(n: int = 0) -> dict[str, int]:
    """Looks."""
    return {"seen": n}


class Responses:
    """Makes responses with random fields.

    Two kinds are left out because google-adk differs: an empty response that ends normally isn't
    an error there when streamed, and an empty text erases the stored output of earlier ones.
    """

    def __init__(self, dice: random.Random, *, blanks: bool) -> None:
        self._dice = dice
        self._blanks = blanks
        self._count = 0

    def answer(self) -> Answer:
        """Return the responses of one model call."""
        return [Raw(self._fields()) for _ in range(self._dice.randrange(1, 4))]

    def _fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if self._dice.random() < 0.9:
            fields["content"] = self._content()
        if self._dice.random() < 0.4:
            fields["partial"] = self._dice.choice([True, True, False])
        if says_something(fields.get("content")) and self._dice.random() < 0.5:
            fields["finish_reason"] = self._dice.choice(
                [types.FinishReason.STOP, types.FinishReason.STOP, types.FinishReason.MAX_TOKENS]
            )
        if self._dice.random() < 0.1:
            fields |= {"error_code": "SOME", "error_message": "some"}
        for name in ("turn_complete", "interrupted"):
            if self._dice.random() < 0.15:
                fields[name] = self._dice.choice([True, False])
        if self._dice.random() < 0.2:
            fields["custom_metadata"] = {"n": self._next()}
        if self._dice.random() < 0.3:
            count = types.GenerateContentResponseUsageMetadata(total_token_count=self._next())
            fields["usage_metadata"] = count
        return fields

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _content(self) -> types.Content:
        role = self._dice.choice(["model", "model", "model", None])
        parts = [self._part() for _ in range(self._dice.choice([0, 1, 1, 1, 2, 3]))]
        return types.Content(role=role, parts=parts or self._dice.choice([None, []]))

    def _part(self) -> types.Part:
        number = self._next()
        kind = self._dice.choice(
            ["text", "text", "thought", "call", "call", "blank", "code", "file"]
        )
        if kind == "call":
            id_ = self._dice.choice([None, None, f"own-{number}"])
            name = self._dice.choice(["look", "look", "look", "dream"])
            call = types.FunctionCall(id=id_, name=name, args={"n": number})
            return types.Part(function_call=call)
        if kind == "code":
            return types.Part(executable_code=types.ExecutableCode(code="1", language="PYTHON"))
        if kind == "file":
            return types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))
        if kind == "blank" and self._blanks:
            return types.Part(text="")
        return types.Part(text=f"Words {number}.", thought=True if kind == "thought" else None)


def says_something(content: types.Content | None) -> bool:
    """Whether the content has more than empty texts and thoughts."""
    parts = (content.parts if content else None) or []
    return any(not part.thought and (part.text is None or part.text) for part in parts)


async def odd_model(stage, number: int) -> None:
    """Play an agent whose model gives any kind of response, over several turns."""
    dice = random.Random(f"responses {number}")
    fields = {"output_key": "said"} if dice.random() < 0.3 else {}
    responses = Responses(dice, blanks=not fields)
    answers = [responses.answer() for _ in range(CALLS)]
    await stage.open(stage.agent("agent", *answers, tools=[look], **fields))
    for turn in range(TURNS):
        say = stage.stream if dice.random() < 0.5 else stage.say
        await say(f"turn {turn}")


for _number in range(MODELS):
    add(Case(f"odd responses {_number}", partial(odd_model, number=_number)))
