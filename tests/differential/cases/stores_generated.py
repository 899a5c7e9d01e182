"""Generated cases: session and artifact services, called in any order with any arguments.

The same number gives the same case on every machine.
"""

import random
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from copy import deepcopy
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.genai import types

from tests.differential.case import Case, add
from tests.kit.rounds import rounds

SESSIONS, FILES = rounds(12, 24), rounds(10, 20)
STEPS = 40
LATER = 4_000_000_000.0
"""The time of events, which is after the creation of all sessions."""
USERS = ("u", "v", "ü v")
IDS = ("a", "b", " a ", "x/y", None)
KEYS = ("a", "user:a", "app:a", "temp:a", "user:", "b c")
VALUES: tuple[Any, ...] = (0, 1.5, None, "ä", True, [1, {"b": None}], {"c": {"d": []}}, "")


async def outcome(doing: Awaitable[Any]) -> Any:
    """Return the result, or the name of the error's type."""
    try:
        return await doing
    except Exception as error:  # noqa: BLE001  what is raised is part of the record
        return f"raises {type(error).__name__}"


class Sessions:
    """Calls a session service and notes the results."""

    def __init__(self, stage: Any, dice: random.Random, service: Any) -> None:
        self._stage, self._dice, self._service = stage, dice, service
        self._held: list[Any] = []
        self._count = 0

    async def step(self) -> None:
        """Make one random call."""
        does = self._dice.choice(
            ["create", "create", "get", "get", "list", "delete", "user_state"] + ["append"] * 7
        )
        result = await outcome(getattr(self, f"_{does}")())
        self._stage.note(does, deepcopy(self._told(result)))

    def _where(self) -> dict[str, Any]:
        user = self._dice.choice(USERS[: self._dice.choice([1, 3])])
        return {"app_name": self._dice.choice(["app", "app", "other"]), "user_id": user}

    def _id(self) -> Any:
        return self._dice.choice(IDS[: self._dice.choice([2, 4])])

    def _state(self) -> dict[str, Any]:
        keys = self._dice.sample(KEYS, self._dice.randrange(4))
        return {key: self._dice.choice(VALUES) for key in keys}

    async def _create(self) -> Any:
        state = self._dice.choice([None, self._state()])
        session_id = self._dice.choice([self._id(), self._dice.choice(IDS)])
        session = await self._service.create_session(
            **self._where(), session_id=session_id, state=state
        )
        self._held.append(session)
        return (
            session
            if session_id and session_id.strip()
            else (session.app_name, session.user_id, session.state)
        )

    async def _get(self) -> Any:
        config = None
        if self._dice.random() < 0.5:
            config = self._stage.ns.GetSessionConfig(
                num_recent_events=self._dice.choice([None, 0, 1, 3]),
                after_timestamp=self._dice.choice([None, 0.0, LATER, LATER + self._count // 2]),
            )
        where = self._where() | {"session_id": self._dice.choice(["a", "b", " a ", "x/y"])}
        session = await self._service.get_session(**where, config=config)
        if session is not None and config is None:
            self._held.append(session)
        return session

    async def _list(self) -> Any:
        where = self._where()
        if self._dice.random() < 0.4:
            where["user_id"] = None
        response = await self._service.list_sessions(**where)
        return [self._told(each) for each in response.sessions if len(each.id) < 10]

    async def _delete(self) -> Any:
        where = self._where() | {"session_id": self._dice.choice(["a", "b", " a "])}
        return await self._service.delete_session(**where)

    async def _user_state(self) -> Any:
        return await self._service.get_user_state(**self._where())

    async def _append(self) -> Any:
        if not self._held:
            return "nobody there"
        latest = self._dice.random() < 0.8
        session = self._held[-1] if latest else self._dice.choice(self._held)
        self._count += 1
        event = self._stage.ns.event(
            self._dice.choice(["user", "agent"]),
            self._dice.choice([f"Words {self._count}.", None]),
            id=f"event {self._count}",
            invocation_id=f"run {self._count // 3}",
            timestamp=LATER + self._count,
            partial=self._dice.choice([None, None, None, True]),
            actions=self._actions(),
        )
        try:
            appended_event = await self._service.append_event(session, event)
        except Exception:
            # google-adk's session may have state of an event that wasn't appended.
            self._held.remove(session)
            raise
        return [self._told(appended_event), self._told(session)]

    def _actions(self) -> Any:
        files = {"f.txt": self._count} if self._dice.random() < 0.2 else {}
        return self._stage.ns.actions(state_delta=self._state(), artifact_delta=files)

    def _told(self, result: Any) -> Any:
        ns = self._stage.ns
        if isinstance(result, ns.Session):
            events = [self._told(event) for event in result.events]
            time = result.last_update_time if result.last_update_time >= LATER else "begun"
            name = result.id if len(result.id) < 10 else "made up"
            return [result.app_name, result.user_id, name, result.state, time, events]
        if isinstance(result, ns.Event):
            return result.model_dump(mode="json", exclude_none=True)
        return result


@asynccontextmanager
async def _sessions(stage: Any, kind: str) -> AsyncIterator[Any]:
    if kind == "memory":
        yield stage.ns.InMemorySessionService()
        return
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "s.db"))
        if kind == "file":
            yield stage.ns.SqliteSessionService(path)
        else:
            service = stage.ns.DatabaseSessionService(f"sqlite+aiosqlite:///{path}")
            yield service
            await service.close()


async def sessions(stage, number: int) -> None:
    """Play calls of a session service in random order."""
    dice = random.Random(f"sessions {number}")
    async with _sessions(stage, ["memory", "file", "database"][number % 3]) as service:
        calls = Sessions(stage, dice, service)
        for _ in range(STEPS):
            await calls.step()


NAMES = ("f.txt", "g.bin", "user:f.txt", "dir/f.txt", "user:dir/ü x.txt", "a b")
ODD_NAMES = ("../f.txt", "/abs.txt", "dir/../f.txt", "a\\b", "user:../x", "dir/", "..")
PARTS: tuple[Any, ...] = (
    types.Part(text="words"),
    types.Part(text=""),
    types.Part(inline_data=types.Blob(data=b"\x00\xff", mime_type="image/png")),
    types.Part(inline_data=types.Blob(data=b"a", mime_type="text/plain", display_name="A b.txt")),
    types.Part(inline_data=types.Blob(data=b"", mime_type="text/csv")),
    {"text": "of a dict"},
    types.Part(file_data=types.FileData(file_uri="gs://a/b", mime_type="image/png")),
    types.Part(function_call=types.FunctionCall(name="look")),
)


class Files:
    """Calls an artifact service and notes the results."""

    def __init__(self, stage: Any, dice: random.Random, service: Any) -> None:
        self._stage, self._dice, self._service = stage, dice, service
        in_memory = isinstance(service, stage.ns.InMemoryArtifactService)
        # google-adk's FileArtifactService lists rejected artifacts as files without versions.
        self._kinds = len(PARTS) if in_memory else len(PARTS) - 2

    async def step(self) -> None:
        """Make one random call."""
        does = self._dice.choice(
            ["save"] * 6 + ["load"] * 4 + ["list", "list", "delete", "versions", "known", "all"]
        )
        where = {"app_name": "app", "user_id": self._dice.choice(["u", "u", "v"])}
        where["session_id"] = self._dice.choice(["s", "s", "t", None])
        if does != "list":
            odd = self._dice.random() < 0.15
            where["filename"] = self._dice.choice(ODD_NAMES if odd else NAMES)
        result = await outcome(getattr(self, f"_{does}")(where))
        self._stage.note(does, list(where.values()), self._told(result))

    async def _save(self, where: dict[str, Any]) -> Any:
        part = self._dice.choice(PARTS[: self._kinds])
        metadata = self._dice.choice([None, None, {"by": "me", "n": 1}])
        return await self._service.save_artifact(**where, artifact=part, custom_metadata=metadata)

    def _version(self) -> int | None:
        return self._dice.choice([None, None, 0, 1, 2, -1, 99])

    async def _load(self, where: dict[str, Any]) -> Any:
        return await self._service.load_artifact(**where, version=self._version())

    async def _list(self, where: dict[str, Any]) -> Any:
        return await self._service.list_artifact_keys(**where)

    async def _delete(self, where: dict[str, Any]) -> Any:
        return await self._service.delete_artifact(**where)

    async def _versions(self, where: dict[str, Any]) -> Any:
        return await self._service.list_versions(**where)

    async def _known(self, where: dict[str, Any]) -> Any:
        return await self._service.get_artifact_version(**where, version=self._version())

    async def _all(self, where: dict[str, Any]) -> Any:
        return await self._service.list_artifact_versions(**where)

    def _told(self, result: Any) -> Any:
        if isinstance(result, list):
            return [self._told(each) for each in result]
        if result is None or isinstance(result, str | int):
            return result
        fields = result.model_dump(mode="json", exclude_none=True)
        fields.pop("create_time", None)
        if str(fields.get("canonical_uri")).startswith("file:"):
            fields["canonical_uri"] = fields["canonical_uri"].partition("/apps/")[2]
        return fields


async def files(stage, number: int) -> None:
    """Play calls of an artifact service in random order."""
    dice = random.Random(f"files {number}")
    with TemporaryDirectory() as folder:
        service = stage.ns.InMemoryArtifactService()
        if number % 2:
            service = stage.ns.FileArtifactService(folder)
        calls = Files(stage, dice, service)
        for _ in range(STEPS):
            await calls.step()


for _number in range(SESSIONS):
    add(Case(f"a session service {_number}", partial(sessions, number=_number)))
for _number in range(FILES):
    add(Case(f"an artifact service {_number}", partial(files, number=_number)))
