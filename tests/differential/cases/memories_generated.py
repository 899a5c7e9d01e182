"""Generated cases: memories, rewinds and deletions between the turns of several sessions.

The same number gives the same case on every machine.
"""

import random
from functools import partial
from typing import Any

from google.genai import types

from tests.differential.case import Case, add
from tests.differential.cases.stores_generated import outcome
from tests.differential.script import Answer, Say, call

MEMORIES = 8
STEPS = 14
SESSIONS = ("s", "t", "v")
WORDS = (
    "bike",
    "Bike,",
    "red",
    "blue-red",
    "Rome",
    "rome's",
    "7",
    "it's",
    "größe",
    "日本",
    "a_b",
    "x.y",
)
TIME = 4_000_000_000.0


def words(dice: random.Random) -> str:
    """Return random words, sometimes none."""
    return " ".join(dice.choice(WORDS) for _ in range(dice.randrange(5)))


async def write(tool_context, key: str, value: int) -> str:
    """Writes state."""
    tool_context.state[key] = value
    return "written"


async def save(tool_context, name: str, text: str) -> int:
    """Saves a file."""
    return await tool_context.save_artifact(name, types.Part(text=text))


async def remember(tool_context) -> str:
    """Adds the session to the memory."""
    await tool_context.add_session_to_memory()
    return "remembered"


async def search(tool_context, query: str) -> Any:
    """Searches the memory."""
    response = await tool_context.search_memory(query)
    return [[each.author, part.text] for each in response.memories for part in each.content.parts]


class Play:
    """Plays turns of sessions, and other operations on them."""

    def __init__(self, stage: Any, dice: random.Random) -> None:
        self._stage, self._dice, self._count = stage, dice, 0

    def agent(self) -> Any:
        """Return an agent that writes, saves, remembers and searches."""
        ns = self._stage.ns
        answers: list[Answer] = []
        for turn in range(STEPS):
            for _ in range(self._dice.randrange(3)):
                answers.append(self._call(turn))
            answers.append(Say(f"{turn}: {words(self._dice)}", chunks=2))
        tools: list[Any] = [write, save, remember, search, ns.load_memory_tool]
        if self._dice.random() < 0.5:
            tools.append(ns.preload_memory_tool)
        return self._stage.agent("agent", *answers, tools=tools)

    def _call(self, turn: int) -> Any:
        kind = self._dice.choice(["write", "write", "save", "remember", "search", "load_memory"])
        if kind == "write":
            key = self._dice.choice(["a", "user:a", "app:a", "temp:a"])
            return call("write", key=key, value=turn)
        if kind == "save":
            name = self._dice.choice(["f.txt", "user:g.txt"])
            return call("save", name=name, text=f"of turn {turn}")
        query = {"query": words(self._dice)} if kind != "remember" else {}
        return call(kind, **query)

    async def step(self) -> None:
        """Play one random operation."""
        does = self._dice.choice(
            ["say"] * 6
            + ["rewind"] * 3
            + ["remember", "remember", "events", "forget", "delete"]
            + ["search"] * 3
        )
        result = await outcome(getattr(self, f"_{does}")())
        self._stage.note(does, result)

    def _where(self) -> dict[str, Any]:
        return {"app_name": "app", "user_id": "u", "session_id": self._dice.choice(SESSIONS)}

    async def _say(self) -> Any:
        session = self._dice.choice(SESSIONS)
        self._count += 1
        say = self._stage.stream if self._dice.random() < 0.2 else self._stage.say
        parts = [types.Part(text=f"turn {self._count} {words(self._dice)}")]
        await say(parts, session=session)

    async def _rewind(self) -> Any:
        where = self._where()
        session = await self._stage.runner.session_service.get_session(**where)
        ids = [event.invocation_id for event in session.events] if session else []
        invocation_id = self._dice.choice(ids) if ids else "e-none"
        del where["app_name"]
        await self._stage.runner.rewind_async(**where, rewind_before_invocation_id=invocation_id)
        return "rewound"

    async def _remember(self) -> Any:
        session = await self._stage.runner.session_service.get_session(**self._where())
        if session is None:
            return "nobody"
        await self._stage.runner.memory_service.add_session_to_memory(session)
        return len(session.events)

    async def _events(self) -> Any:
        where = self._where()
        if self._dice.random() < 0.3:
            where["session_id"] = None
        names = [f"event {self._dice.randrange(6)}" for _ in range(self._dice.randrange(3))]
        events = [
            self._stage.ns.event("user", f"{name} bike", id=name, timestamp=TIME) for name in names
        ]
        await self._stage.runner.memory_service.add_events_to_memory(**where, events=events)

    async def _forget(self) -> Any:
        memory = self._stage.runner.memory_service
        response = await memory.search_memory(app_name="app", user_id="u", query="bike red")
        ids = [each.id for each in response.memories]
        which = self._dice.choice([*ids, "none", None])
        await memory.delete_memory(app_name="app", user_id="u", memory_id=which)
        return which is not None

    async def _search(self) -> Any:
        user = self._dice.choice(["u", "u", "u", "w"])
        memory = self._stage.runner.memory_service
        response = await memory.search_memory(app_name="app", user_id=user, query=words(self._dice))
        return [
            [each.author, [part.text for part in each.content.parts], each.id is not None]
            for each in response.memories
        ]

    async def _delete(self) -> Any:
        where = self._where()
        await self._stage.runner.session_service.delete_session(**where)
        if self._dice.random() < 0.8:
            await self._stage.new_session(where["session_id"])


def _timeless(stage: Any) -> Any:
    """Return a memory service without timestamps, which differ between the runtimes."""

    class Timeless(stage.ns.InMemoryMemoryService):
        async def search_memory(self, **what):
            response = await super().search_memory(**what)
            for each in response.memories:
                each.timestamp = "then"
            return response

    return Timeless()


async def memories(stage, number: int) -> None:
    """Play turns of several sessions, with memories, rewinds and deletions between them."""
    dice = random.Random(f"memories {number}")
    play = Play(stage, dice)
    await stage.open(play.agent(), services={"memory_service": _timeless(stage)})
    for session in SESSIONS[1:]:
        await stage.new_session(session)
    for _ in range(STEPS):
        await play.step()


for _number in range(MEMORIES):
    add(Case(f"memories and steps back {_number}", partial(memories, number=_number)))
