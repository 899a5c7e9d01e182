"""Generated cases: instructions composed of random pieces.

The same number gives the same case on every machine.
"""

import random
from functools import partial

from tests.differential.case import Case, add
from tests.kit.rounds import rounds

TEMPLATES = rounds(10, 20)
INSTRUCTIONS = 6

PIECES = (
    *("{a}", "{b?}", "{none}", "{none?}", "{list}", "{dict?}", "{zero}", "{false}", "{empty}"),
    *("{user:a}", "{app:a}", "{temp:a}", "{user:none?}", "{other:a}", "{ a }", "{a ?}", "{a.b}"),
    *("{artifact.x.txt}", "{artifact.none?}", "{artifact.user:y}", "{artifact.}", "{artifact}"),
    *(
        "{{a}}",
        "{{{a}}}",
        "{",
        "}",
        "{}",
        "{?}",
        "{a",
        "a}",
        "{a}{b?}",
        "{1a}",
        "{a-b}",
        "{\u00e9}",
    ),
    *('{"json": 1}', "{a\nb}", "{a?}?", "{a??}", "words", "\n", " ", "\u00e9", "\\", "$&", "\\1"),
)
UNSET = ("{unset}", "{user:unset}", "{artifact.unset}")
STATE = {
    "a": "An {a} \\1",
    "b": 1.5,
    "none": None,
    "list": [1, "x"],
    "dict": {"k": "v"},
    "zero": 0,
    "false": False,
    "empty": "",
    "\u00e9": "accent",
    "user:a": "of the user",
    "app:a": {"n": None},
}


async def template(stage, number: int) -> None:
    """Play one app per instruction, one after another."""
    dice = random.Random(f"template {number}")

    async def save(callback_context):
        part = stage.ns.types.Part(text="A file with {a}.")
        await callback_context.save_artifact("x.txt", part)
        await callback_context.save_artifact("user:y", part)
        callback_context.state["temp:a"] = "for now"

    for index in range(INSTRUCTIONS):
        pieces = [dice.choice(PIECES) for _ in range(dice.randrange(1, 6))]
        if dice.random() < 0.1:
            pieces.append(dice.choice(UNSET))
        text = "Case: " + dice.choice(["", " "]).join(pieces)
        kind = dice.choice(
            ["instruction", "instruction", "static_instruction", "global_instruction"]
        )
        fields = {kind: text, "before_agent_callback": save}
        await stage.open(stage.agent(f"agent{index}", "Ok.", **fields), state=STATE)
        await stage.say()


for _number in range(TEMPLATES):
    add(Case(f"instructions of anything {_number}", partial(template, number=_number)))
