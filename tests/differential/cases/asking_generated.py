"""Generated cases: batches of tools that ask the user, and users who answer in all kinds of ways.

The same number gives the same case on every machine.
"""

import random
from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add
from tests.differential.cases.human import CONFIRM
from tests.differential.script import Answer, Boom, Call, Say, call
from tests.kit.rounds import rounds

AGENTS = rounds(25, 50)
OUT_OF_ORDER = (7, 8, 9, 10, 14, 15, 16, 17, 22, 26, 27, 30, 31, 33, 36, 39, 45, 49)
"""Seeds whose users answer an older call after a newer one, which differs on purpose."""
TURNS = 6
CREDENTIAL = "adk_request_credential"


async def look(n: int) -> dict[str, int]:
    """Looks."""
    return {"seen": n}


async def pay(n: int, tool_context: Any) -> str:
    """Pays."""
    confirmation = tool_context.tool_confirmation
    tool_context.state[f"paid {n}"] = bool(confirmation)
    return f"paid {n} ({confirmation.payload if confirmation else 'unasked'})"


async def is_much(n: int, tool_context: Any) -> bool:
    """Whether the user must confirm."""
    return n % 2 == 0


async def lend(n: int, tool_context: Any) -> dict[str, Any] | None:
    """Lends, after a question of its own."""
    decision = tool_context.tool_confirmation
    if not decision:
        tool_context.request_confirmation(hint=f"Lend {n}?", payload={"days": n})
        return {"status": "pending"} if n % 2 else None
    return {"lent": n, "ok": decision.confirmed, "payload": decision.payload}


async def wait(n: int) -> dict[str, str] | None:
    """Waits."""
    return {"status": "pending"} if n % 3 == 0 else None


async def fall(n: int) -> None:
    """Falls."""
    raise Boom(f"boom {n}")


def _config(stage: Any, key: str) -> Any:
    config = {
        "auth_scheme": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "raw_auth_credential": {"auth_type": "apiKey", "api_key": "raw"},
        "credential_key": key,
    }
    return stage.ns.AuthConfig.model_validate(config)


def _knocking(stage: Any) -> Any:
    async def knock(n: int, tool_context: Any) -> Any:
        """Knocks."""
        # One key per call, because google-adk forgets keys from an earlier run.
        config = _config(stage, f"key {n}")
        credential = tool_context.get_auth_response(config)
        if credential is None:
            tool_context.request_credential(config)
            return {"status": "pending"} if n % 3 == 0 else None
        return f"opened {n} with {credential.api_key}"

    return knock


def tools_of(stage: Any) -> list[Any]:
    """Return one tool of each kind that asks, and some that don't."""
    ns = stage.ns
    return [
        look,
        fall,
        lend,
        _knocking(stage),
        ns.FunctionTool(pay, require_confirmation=True),
        ns.FunctionTool(_named(pay, "spend"), require_confirmation=is_much),
        ns.LongRunningFunctionTool(wait),
    ]


def _named(function: Any, name: str) -> Any:
    async def other(n: int, tool_context: Any) -> str:
        """Spends."""
        result: str = await function(n, tool_context)
        return result

    other.__name__ = name
    return other


class Script:
    """Answers of a model: calls of tools that ask, alone and in batches, and texts."""

    def __init__(self, dice: random.Random, names: list[str]) -> None:
        self._dice, self._names, self._count = dice, names, 0

    def answers(self, many: int) -> list[Answer]:
        """Return this many answers."""
        return [self._answer() for _ in range(many)]

    def _answer(self) -> Answer:
        if self._dice.random() < 0.4:
            return Say(f"Words {self._next()}.", chunks=self._dice.randrange(1, 3))
        words = [Say("Let me ask.")] if self._dice.random() < 0.2 else []
        return [*words, *(self._call() for _ in range(self._dice.choice([1, 1, 2, 2, 3])))]

    def _call(self) -> Call:
        return call(self._dice.choice(self._names), n=self._next())

    def _next(self) -> int:
        self._count += 1
        return self._count


class User:
    """A user who answers all questions, some of them, twice, wrongly, or with something else."""

    def __init__(self, stage: Any, dice: random.Random, ways: list[str]) -> None:
        self._stage, self._dice, self._ways = stage, dice, ways
        self._answered: list[Any] = []

    def message(self) -> list[types.Part]:
        """Return the user's next message."""
        questions = self._open()
        way = self._dice.choice(self._ways) if questions or self._answered else "words"
        parts = getattr(self, f"_{way}")(questions)
        if parts and "words" in self._ways and self._dice.random() < 0.15:
            parts.append(types.Part(text="And a word."))
        return parts or [types.Part(text="Well?")]

    def _open(self) -> list[Any]:
        """Return the questions without an answer."""
        closed_ids = {question.id for question in self._answered}
        questions = []
        for event in self._stage.events:
            waiting = event.long_running_tool_ids or ()
            for question in event.get_function_calls():
                if question.id in waiting and question.id not in closed_ids and not event.partial:
                    closed_ids.add(question.id)
                    questions.append(question)
        return questions

    def _words(self, _: list[Any]) -> list[types.Part]:
        return [types.Part(text="Something else.")]

    def _all(self, questions: list[Any]) -> list[types.Part]:
        return [self._reply(question) for question in questions]

    def _backwards(self, questions: list[Any]) -> list[types.Part]:
        return self._all(questions[::-1])

    def _some(self, questions: list[Any]) -> list[types.Part]:
        return self._all(self._dice.sample(questions, 1)) if questions else []

    def _last(self, questions: list[Any]) -> list[types.Part]:
        return self._all(questions[-1:])

    def _again(self, _: list[Any]) -> list[types.Part]:
        # google-adk treats a credential given twice as a new one.
        repeatable = [question for question in self._answered if question.name != CREDENTIAL]
        return [self._reply(repeatable[-1])] if repeatable else []

    def _wrong(self, questions: list[Any]) -> list[types.Part]:
        question = (questions or self._answered)[-1]
        part = self._response(question)
        part.function_response.id = "nobody"
        return [part]

    def _reply(self, question: Any) -> types.Part:
        self._answered.append(question)
        return self._response(question)

    def _response(self, question: Any) -> types.Part:
        if question.name == CONFIRM:
            response = self._decision()
        elif question.name == CREDENTIAL:
            response = dict(question.args["authConfig"])
            response["exchangedAuthCredential"] = {"authType": "apiKey", "apiKey": "secret"}
        else:
            response = self._dice.choice([{"result": "yes"}, {"status": "half"}, {}])
        answer = types.FunctionResponse(id=question.id, name=question.name, response=response)
        return types.Part(function_response=answer)

    def _decision(self) -> dict[str, Any]:
        return self._dice.choice(
            [
                {"confirmed": True},
                {"confirmed": True, "payload": {"by": "Ann"}},
                {"confirmed": False},
                {"response": '{"confirmed": true}'},
                {},
            ]
        )


def _hooks(stage: Any, dice: random.Random) -> dict[str, Any]:
    """Return tool callbacks that write, answer or change results, and note their calls."""
    does = dice.choice(["nothing", "writes", "answers", "changes"])
    which = dice.choice(["pay", "lend", "knock", "look"])

    async def before(tool: Any, args: dict[str, Any], tool_context: Any) -> Any:
        stage.note("before", tool.name, args["n"], bool(tool_context.tool_confirmation))
        if does == "writes" and tool.name != "wait":
            tool_context.state[f"before {args['n']}"] = True
        return {"instead": args["n"]} if does == "answers" and tool.name == which else None

    async def after(tool: Any, args: dict[str, Any], tool_context: Any, tool_response: Any) -> Any:
        stage.note("after", tool.name, args["n"], bool(tool_context.tool_confirmation))
        if does == "writes" and tool.name != "wait":
            tool_context.state[f"after {args['n']}"] = True
        return {"changed": args["n"]} if does == "changes" and tool.name == which else None

    async def told(tool: Any, args: dict[str, Any], tool_context: Any, error: Any) -> Any:
        return {"recovered": str(error)}

    hooks = {"before_tool_callback": before, "after_tool_callback": after}
    some_hooks = {name: hook for name, hook in hooks.items() if dice.random() < 0.5}
    return some_hooks | {"on_tool_error_callback": told}


WAYS = ["all", "all", "some", "backwards", "last", "again", "words", "wrong"]
NAMES = ["look", "look", "pay", "pay", "spend", "lend", "knock", "wait", "fall"]


async def asking(stage, number: int) -> None:
    """Play an agent whose tools ask, with a user who answers in any way."""
    dice = random.Random(f"asking {number}")
    answers = Script(dice, NAMES).answers(20)
    agent = stage.agent("agent", *answers, tools=tools_of(stage), **_hooks(stage, dice))
    await stage.open(agent, resumable=dice.random() < 0.4)
    await talk(stage, dice, WAYS)


async def talk(stage: Any, dice: random.Random, ways: list[str]) -> None:
    """Start a run, and answer it as a user with these ways of answering."""
    await stage.say("go")
    user = User(stage, dice, ways)
    for _ in range(TURNS):
        say = stage.stream if dice.random() < 0.2 else stage.say
        await say(user.message())
    _in_any_order(stage)


def _in_any_order(stage: Any) -> None:
    """Sort the responses in requests, because google-adk keeps them in order of arrival."""
    for _, _, _, contents, _ in stage.requests:
        for content in contents:
            content["parts"].sort(key=lambda part: str(part.get("functionResponse", "")))


for _number in sorted({*range(AGENTS)} - {*OUT_OF_ORDER}):
    add(Case(f"an agent whose tools ask {_number}", partial(asking, number=_number)))
