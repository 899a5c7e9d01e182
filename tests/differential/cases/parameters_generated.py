"""Generated cases: OpenAPI operations with parameters of any place and shape.

They use only the styles that google-adk writes as described.

The same number gives the same case on every machine.
"""

import random
from functools import partial
from typing import Any

from tests.differential.case import Case, add, case
from tests.differential.cases.openapi import SPEC, served
from tests.differential.differing_tools import COOKIES_APART
from tests.differential.script import Call

PARAMETERS = 4
OPERATIONS, CALLS = 4, 8
STYLES = {
    "path": ("simple",),
    "header": ("simple",),
    "query": ("form", "spaceDelimited", "pipeDelimited", "deepObject"),
    "cookie": ("form",),
}
SCALARS: dict[str, list[Any]] = {
    "string": ["Tom", "a b&c=d", "ü/ö", "x,y|z", "100%", "a+b"],
    "integer": [0, 7, -1],
    "number": [1.5, 2, 1e21],
    "boolean": [True, False],
}
LISTS: list[Any] = [["a", "b c"], [1, 2.5, True], ["x"]]
OBJECTS: list[Any] = [{"a": 1, "b": "c d"}, {"x": True}]


class Service:
    """Makes operations and calls of them."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._paths: dict[str, Any] = {}
        self._operations: dict[str, list[dict[str, Any]]] = {}
        for index in range(OPERATIONS):
            parameters = [self._parameter(n) for n in range(self._dice.randrange(1, 5))]
            self._operations[f"find_{index}"] = parameters
            slots = "".join(f"/{{{one['name']}}}" for one in parameters if one["in"] == "path")
            operation = {"operationId": f"find_{index}", "parameters": parameters, "responses": {}}
            self._paths[f"/pets{index}{slots}"] = {"get": operation}

    def spec(self) -> dict[str, Any]:
        """Return the description of all operations."""
        return SPEC | {"paths": self._paths}

    def _parameter(self, number: int) -> dict[str, Any]:
        where = self._dice.choice(["path", "query", "query", "header", "cookie"])
        kinds = [*SCALARS] + ([] if where == "query" else ["array", "object"])
        kind = self._dice.choice(kinds)
        parameter: dict[str, Any] = {
            "name": f"{where}P{number}",
            "in": where,
            "schema": {"type": kind},
        }
        if where == "header":
            parameter["name"] = f"X-P{number}"
        if where == "path":
            parameter["required"] = True
        if kind == "array":
            parameter["schema"]["items"] = {}
        if kind in SCALARS and self._dice.random() < 0.2:
            parameter["schema"]["default"] = self._dice.choice(SCALARS[kind])
        if self._dice.random() < 0.5:
            parameter["style"] = self._dice.choice(STYLES[where])
        if self._dice.random() < 0.4 and (kind != "object" or where == "cookie"):
            parameter["explode"] = self._dice.random() < 0.5
        if self._dice.random() < 0.2 and where != "path":
            parameter["required"] = True
        return parameter

    def calls(self) -> list[Call]:
        """Return calls that omit some of the optional parameters."""
        return [self._call() for _ in range(CALLS)]

    def _call(self) -> Call:
        name = self._dice.choice([*self._operations])
        args = {}
        for one in self._operations[name]:
            if not one.get("required") and self._dice.random() < 0.3:
                continue
            kind = one["schema"]["type"]
            values = {"array": LISTS, "object": OBJECTS, **SCALARS}[kind]
            args[_argument(one["name"])] = self._dice.choice(values)
        return Call(name, args)


def _argument(name: str) -> str:
    """Return the name that the tool gives a parameter."""
    if name.startswith("X-"):
        return name.lower().replace("-", "_")
    where, _, number = name.partition("P")
    return f"{where}_p{number}"


async def parameters(stage, number: int) -> None:
    """Play a service whose operations have parameters of any kind."""
    service = Service(random.Random(f"parameters {number}"))
    await served(stage, service.calls(), spec=service.spec())


@case(differs=COOKIES_APART)
async def a_service_is_called_with_a_semicolon_in_a_cookie(stage):
    cookie = {"name": "who", "in": "cookie", "schema": {"type": "string"}}
    find = {"operationId": "find", "parameters": [cookie], "responses": {}}
    calls = [Call("find", {"who": "me; admin=1"})]
    await served(stage, calls, spec=SPEC | {"paths": {"/pets": {"get": find}}})


for _number in range(PARAMETERS):
    add(Case(f"a service with any parameters {_number}", partial(parameters, number=_number)))
