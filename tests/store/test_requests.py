"""Requests to models are stored as ranges of their pieces' numbers, and read back by name."""

import contextlib
import json
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devui.store.errors import JournalDamaged
from devui.store.journal import Journal
from devui.store.rows import SpanRow
from devui.store.runs.requests import NewSpan
from devui.wire.spans import Prompt
from tests.store.old_journals import restored


def prompt(*contents: str, **others: Any) -> Prompt:
    """Return a request with these contents, all of whose pieces are new."""
    names = ("system", "tools", *contents)
    members = {"model": "m", "system": "system", "tools": "tools", "config": None, **others}
    return Prompt(
        contents=[*contents], pieces={name: json.dumps(name) for name in names}, **members
    )


def model_call(run: str, number: int, prompt: Prompt) -> NewSpan:
    return NewSpan(run, number, None, "model", "m", "agent", None, None, 1.0, None, prompt)


async def session_of(journal: Journal, name: str) -> int:
    return (await journal.sessions.create("travel", "ada", name, {})).key


async def ask(journal: Journal, session: int, number: int, prompt: Prompt) -> SpanRow:
    """Record a request as the call with this number; return its span."""
    call = model_call(f"run {session}", number, prompt)
    await journal.spans.add(session, [call], [], prompt.pieces)
    return (await journal.spans.every(session))[-1]


def as_sent(prompt: Prompt) -> dict[str, Any]:
    """Return a request as the journal reads it back: members and names of pieces."""
    members = ("model", "stream", "system", "tools", "config", "contents")
    return {member: getattr(prompt, member) for member in members}


def request_in(path: Path, span: SpanRow) -> str:
    with contextlib.closing(sqlite3.connect(path / "journal.db")) as connection:
        [(text,)] = connection.execute("SELECT request FROM spans WHERE id = ?", [span.id])
        return str(text)


async def test_a_request_takes_little_space_however_long_the_conversation(tmp_path):
    async with await Journal.open(tmp_path) as journal:
        session = await session_of(journal, "long")
        contents = [f"c{n}" for n in range(100, 400)]
        for count in range(1, 300):
            request = prompt(*contents[:count])
            span = await ask(journal, session, count, request)
            assert (await journal.spans.bodies(span))[0] == as_sent(request)
        assert len(request_in(tmp_path, span)) < 80


async def test_interleaved_requests_of_several_sessions_are_read_back(tmp_path):
    async with await Journal.open(tmp_path) as journal:
        sessions = [await session_of(journal, name) for name in ("one", "two")]
        spans = []
        for count in range(1, 5):
            for session in sessions:
                request = prompt(*(f"{session}.{n}" for n in range(count)))
                spans.append((await ask(journal, session, count, request), request))
        for span, request in spans:
            payload, _, _ = await journal.spans.bodies(span)
            assert payload == as_sent(request)
            names = [*request.contents, "system", "tools"]
            pieces = await journal.spans.pieces(span.session, names)
            assert pieces == {name: json.dumps(name) for name in names}


async def test_unusual_members_and_names_of_missing_pieces_are_kept(
    tmp_path,
):
    odd = prompt("a", "lost", "a", model="other", stream=True, tools=None, config="gone")
    del odd.pieces["lost"]
    async with await Journal.open(tmp_path) as journal:
        session = await session_of(journal, "odd")
        span = await ask(journal, session, 1, odd)
        assert (await journal.spans.bodies(span))[0] == as_sent(odd)
        late = replace(odd, contents=["lost"], pieces={"lost": "1"})
        after = await ask(journal, session, 2, late)
        assert (await journal.spans.bodies(after))[0] == as_sent(late)
        assert "lost" not in request_in(tmp_path, after)


async def test_piece_numbers_are_used_again_after_a_restart(tmp_path):
    async with await Journal.open(tmp_path) as journal:
        session = await session_of(journal, "s")
        first = await ask(journal, session, 1, prompt("a", "b"))
    async with await Journal.open(tmp_path) as journal:
        again = replace(prompt("a", "b", "c"), pieces={"c": "3"})
        second = await ask(journal, session, 2, again)
        assert (await journal.spans.bodies(second))[0] == as_sent(again)
        assert '"a"' not in request_in(tmp_path, second)
        assert (await journal.spans.bodies(first))[0] == as_sent(prompt("a", "b"))


async def test_a_damaged_request_raises_and_does_not_affect_others(tmp_path):
    async with await Journal.open(tmp_path) as journal:
        session = await session_of(journal, "s")
        request = prompt("a", "b")
        spans = [await ask(journal, session, number, request) for number in (1, 2, 3, 4)]
        texts = ("{", '{"contents":[[1,99999999999]]}', '{"contents":[7]}')
        with contextlib.closing(sqlite3.connect(tmp_path / "journal.db")) as connection:
            for text, span in zip(texts, spans, strict=False):
                connection.execute("UPDATE spans SET request = ? WHERE id = ?", [text, span.id])
            connection.commit()
        for span in spans[:3]:
            with pytest.raises(JournalDamaged):
                await journal.spans.bodies(span)
        assert (await journal.spans.bodies(spans[3]))[0] == as_sent(request)


async def test_a_missing_piece_leaves_its_place_in_the_request(tmp_path):
    async with await Journal.open(tmp_path) as journal:
        session = await session_of(journal, "s")
        span = await ask(journal, session, 1, prompt("a", "b", "c"))
        with contextlib.closing(sqlite3.connect(tmp_path / "journal.db")) as connection:
            connection.execute("DELETE FROM pieces WHERE name = 'b'")
            connection.commit()
        names = (await journal.spans.bodies(span))[0]["contents"]
        assert (names[0], len(names), names[2]) == ("a", 3, "c")
        assert await journal.spans.pieces(session, names) == {"a": '"a"', "c": '"c"'}


async def test_requests_in_the_old_format_are_read_by_names_of_pieces(tmp_path):
    old = restored(28, tmp_path / "old")
    request = prompt("b", "a")
    with contextlib.closing(sqlite3.connect(old / "journal.db")) as connection:
        [(session,)] = connection.execute("SELECT min(key) FROM sessions")
        pieces = [(session, name, data) for name, data in request.pieces.items()]
        connection.executemany("INSERT INTO pieces VALUES (?, ?, ?)", pieces)
        row = (session, "run", 1, "model", "m", "agent", 2, 1.0, json.dumps(as_sent(request)))
        connection.execute(
            "INSERT INTO spans (session, run, number, type, name, agent, event, began, sent)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            row,
        )
        connection.commit()
    async with await Journal.open(old) as journal:
        [span] = await journal.spans.every(session)
        assert (await journal.spans.bodies(span))[0] == as_sent(request)
        after = await ask(journal, session, 2, request)
        assert (await journal.spans.bodies(after))[0] == as_sent(request)
        assert len(await journal.spans.pieces(session, [*request.pieces])) == len(request.pieces)
        with contextlib.closing(sqlite3.connect(old / "journal.db")) as connection:
            connection.execute("UPDATE spans SET event = 3 WHERE id = ?", [after.id])
            connection.commit()
        settings = await journal.spans.settings(session)
        assert settings == {number: ["m", "system", "tools", None] for number in (2, 3)}
