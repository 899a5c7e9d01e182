"""Generated cases: tools with parameters of any type, and arguments that both runtimes accept.

Arguments that google-adk passes on unconverted are in made_by_hand.py.

The same number gives the same case on every machine.
"""

import enum
import random
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Optional, Union

from pydantic import BaseModel

from tests.differential.case import Case, add
from tests.differential.script import Call
from tests.kit.rounds import rounds

SIGNATURES = rounds(25, 50)
CALLS = 6


class Size(enum.Enum):
    """Of a plain kind."""

    SMALL = "small"
    LARGE = "large"


class Trip(BaseModel):
    """With a field that may be left out."""

    city: str
    days: int = 1


TYPES: dict[str, list[Any]] = {
    "str": ["a", ""],
    "int": [1, 0, -3],
    "float": [1.5],
    "bool": [True, False],
    "list": [[1, "a"], []],
    "dict": [{"a": 1}, {}],
    "list[int]": [[1, 2], []],
    "list[str]": [["a"], []],
    "dict[str, int]": [{"a": 1}],
    "list[Trip]": [[{"city": "Rome"}], []],
    "Trip": [{"city": "Rome", "days": 2}, {"city": "Bern"}],
    "Size": [],
    "Literal['x', 'y']": ["x", "y"],
    "Optional[str]": ["a", None],
    "Optional[int]": [1, None],
    "Optional[Trip]": [{"city": "Rome"}, None],
    "list[Trip] | None": [[{"city": "Rome"}], None],
    "Union[int, str]": [1, "a"],
    "int | None": [1, None],
    "Any": [1, "a", None, [1]],
    "": [1, "a"],
}
"""Annotations and fitting values. A parameter without values is declared but never passed."""
NAMES = {"Any": Any, "Literal": Literal, "Optional": Optional, "Union": Union}
ODD = ["1", 1, 1.5, True, None, "none", [], ["a", 1], {}, {"city": 3}, {"town": "Rome"}]
"""Values for parameters of any type."""


class Tool:
    """Makes a function and calls of it."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        count = dice.randrange(4)
        self._types = {f"p{i}": dice.choice(list(TYPES)) for i in range(count)}
        self._optional = {name for name in self._types if dice.random() < 0.3}

    def function(self) -> Callable[..., Any]:
        """Return an async function that returns its arguments."""
        names_in_order = sorted(self._types, key=lambda name: name in self._optional)
        parameters = ", ".join(self._parameter(name) for name in names_in_order)
        entries = ", ".join(f"'{name}': told({name})" for name in names_in_order)
        source = f"async def look({parameters}):\n    'Looks.'\n    return {{{entries}}}\n"
        names = {**NAMES, "Size": Size, "Trip": Trip, "told": told}
        exec(source, names)  # writing out a hundred signatures would say less
        function: Callable[..., Any] = names["look"]
        return function

    def _parameter(self, name: str) -> str:
        annotation = f": {self._types[name]}" if self._types[name] else ""
        return f"{name}{annotation}{' = None' if name in self._optional else ''}"

    def call(self) -> Call:
        """Return a call with most of the arguments, sometimes with one too many."""
        args = {}
        for name, annotation in self._types.items():
            values = ODD if annotation in ("", "Any") else TYPES[annotation]
            if values and self._dice.random() < 0.9:
                args[name] = self._dice.choice(values)
        if self._dice.random() < 0.1:
            args["more"] = 1
        return Call("look", args)


def told(value: Any) -> list[Any]:
    """Return a value with its type and the types of its items."""
    inside = [type(each).__name__ for each in value] if isinstance(value, list) else []
    return [type(value).__name__, *inside, str(value)]


async def signature(stage, number: int) -> None:
    """Play an agent with one tool that is called several times."""
    dice = random.Random(f"signature {number}")
    tool = Tool(dice)
    answers = [tool.call() for _ in range(CALLS)]
    await stage.open(stage.agent("agent", *answers, "Done.", tools=[tool.function()]))
    await stage.say()


for _number in range(SIGNATURES):
    add(Case(f"a tool of any signature {_number}", partial(signature, number=_number)))
