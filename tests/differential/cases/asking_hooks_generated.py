"""Generated cases: callbacks and plugins of any kind around tools that ask the user.

The same number gives the same case on every machine.
"""

import random
from functools import partial
from typing import Any

from tests.differential.case import Case, add
from tests.differential.cases.asking_generated import User, tools_of
from tests.differential.script import Answer, Boom, Error, Raise, Say, call

HOOKED = 18
LATE = (10,)
"""Seeds whose users answer late or after a failure, which differs on purpose."""
TURNS = 5
NAMES = ["look", "pay", "pay", "spend", "knock", "lend", "fall", "wait"]
HOOKS = (
    "before_tool",
    "after_tool",
    "on_tool_error",
    "before_model",
    "after_model",
    "on_model_error",
    "before_agent",
    "after_agent",
)
DEEDS = (
    ["nothing", "writes", "answers", "signals"],
    ["nothing", "writes", "asks"],
    ["nothing", "nothing", "nothing", "writes", "raises"],
)
"""What the hooks of a case may do; the seed selects one row."""


class Hooks:
    """Makes hooks that do something random on each call."""

    def __init__(self, stage: Any, dice: random.Random, deeds: list[str]) -> None:
        self._stage, self._dice, self._deeds = stage, dice, deeds

    def of_agent(self, chance: float) -> dict[str, Any]:
        """Return some callbacks of an agent."""
        kinds = [kind for kind in HOOKS if self._dice.random() < chance]
        fields = {f"{kind}_callback": self._hook("agent", kind) for kind in kinds}
        # Without this one, a later answer would rerun a failed call, which differs on purpose.
        return fields | {"on_tool_error_callback": _recovers}

    def plugin(self, name: str, chance: float) -> Any:
        """Return a plugin with some of these hooks."""
        kinds = [kind for kind in HOOKS if self._dice.random() < chance]
        methods = {f"{kind}_callback": _method(self._hook(name, kind)) for kind in kinds}
        return type("Plugin", (self._stage.ns.BasePlugin,), methods)(name=name)

    def _hook(self, who: str, kind: str) -> Any:
        deeds = [self._dice.choice(self._deeds) for _ in range(7)]
        count = 0

        async def hook(**values: Any) -> Any:
            nonlocal count
            response = values.get("llm_response")
            if response is not None and response.partial:
                return None
            count += 1
            deed = deeds[count % len(deeds)]
            self._stage.note(who, kind, deed, _about(values))
            return self._do(who, kind, deed, values)

        return hook

    def _do(self, who: str, kind: str, deed: str, values: dict[str, Any]) -> Any:
        context = values.get("tool_context") or values.get("callback_context")
        if deed == "raises":
            raise Boom(f"boom in {who} {kind}")
        tool = values["tool"].name if "tool" in values else ""
        # google-adk stores state written by a long-running call differently.
        if deed == "writes" and tool != "wait":
            context.state[f"{who} {kind}"] = context.state.get(f"{who} {kind}", 0) + 1
        if deed == "signals" and kind in ("before_tool", "after_tool", "on_tool_error"):
            context.actions.skip_summarization = True
        # google-adk doesn't put a question to the user that is asked after a credential was given.
        asks = deed == "asks" and kind == "before_tool" and tool not in ("wait", "knock")
        if asks and not context.tool_confirmation:
            context.request_confirmation(hint="Sure?", payload={"by": who})
            return {"status": "asked"}
        return self._answer(who, kind) if deed == "answers" else None

    def _answer(self, who: str, kind: str) -> Any:
        if kind in ("before_tool", "after_tool", "on_tool_error"):
            return {"by": f"{who} {kind}"}
        content = self._stage.ns.content(f"By {who} {kind}.")
        if kind in ("before_agent", "after_agent"):
            return content
        return None if kind == "before_model" else self._stage.ns.LlmResponse(content=content)


async def _recovers(tool: Any, args: dict[str, Any], tool_context: Any, error: Any) -> Any:
    return {"recovered": str(error)}


def _method(hook: Any) -> Any:
    async def method(_: Any, **values: Any) -> Any:
        return await hook(**values)

    return method


def _about(values: dict[str, Any]) -> Any:
    """Return what a hook was called with, for a note."""
    args = values.get("tool_args", values.get("args"))
    facts = [values["tool"].name, dict(args)] if "tool" in values else []
    if context := values.get("tool_context"):
        facts.append(bool(context.tool_confirmation))
        facts.append(context.function_call_id is not None)
    result = values.get("result", values.get("tool_response"))
    error = values.get("error")
    if isinstance(result, dict):
        result = {key: each if key != "error" else "<worded>" for key, each in result.items()}
    return [*facts, str(result), type(error).__name__]


def _answers(dice: random.Random, *, fail: bool) -> list[Answer]:
    answers: list[Answer] = []
    for number in range(1, 25):
        kind = dice.choice(["words", "call", "call", "call", *(["error"] if fail else [])])
        if kind == "words":
            answers.append(Say(f"Words {number}.", chunks=2))
        elif kind == "error":
            answers.append(dice.choice([Error(), Raise()]))
        else:
            answers.append(call(dice.choice(NAMES), n=3 * number + 1 + dice.randrange(2)))
    return answers


async def hooked(stage, number: int) -> None:
    """Play one agent with hooks, whose tools ask."""
    dice = random.Random(f"asking hooks {number}")
    hooks = Hooks(stage, dice, DEEDS[number % len(DEEDS)])
    answers = _answers(dice, fail=number % 2 == 0)
    agent = stage.agent("agent", *answers, tools=tools_of(stage), **hooks.of_agent(0.3))
    plugins = [hooks.plugin(f"p{i}", 0.25) for i in range(dice.randrange(3))]
    await stage.open(agent, plugins=plugins, resumable=dice.random() < 0.4)
    await stage.say("go")
    user = User(stage, dice, ["all", "all", "all", "words"])
    for _ in range(TURNS):
        say = stage.stream if dice.random() < 0.2 else stage.say
        await say([part for part in user.message() if part.text != "And a word."])


for _number in sorted({*range(HOOKED)} - {*LATE}):
    add(Case(f"hooks around tools that ask {_number}", partial(hooked, number=_number)))
