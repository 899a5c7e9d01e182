"""Bundles: export from one journal, import into another, and what the import refuses."""

import asyncio
import io
import json
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devui.debugger.bundles.checks import BadBundle
from devui.debugger.bundles.exchange import Exchange, ExportOptions
from devui.debugger.bundles.extras import LARGEST
from devui.debugger.bundles.importing import ImportOptions
from devui.debugger.bundles.writing import OPENING, compact_json
from devui.debugger.runs.commit import event_of
from devui.debugger.secrets.redaction import MARK
from devui.settings import Settings
from devui.store.errors import ReadOnly, RunActive
from devui.store.journal import Journal
from devui.store.rows import NewEdit, NewFork, NewTouch, OutputLine, SessionRow, SpanEnd
from devui.store.runs.requests import NewSpan
from devui.wire.events import Event
from devui.wire.gates import EDITED
from tests.kit.rounds import rounds

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
KEY = st.sampled_from(["a", "b", "user:name", "user:lang", "app:rate"])
DELTA = st.dictionaries(KEY, VALUE, max_size=3)
EXTRA = st.lists(
    st.tuples(st.integers(0, 999), st.dictionaries(TEXT, VALUE, min_size=1, max_size=2)), max_size=4
)
STEP = (
    st.tuples(st.just("event"), DELTA, TEXT)
    | st.tuples(st.just("elsewhere"), DELTA)
    | st.tuples(st.just("run"), st.sampled_from(["done", "failed", "stopped"]), DELTA, TEXT)
    | st.tuples(st.just("file"), st.sampled_from(["f.txt", "user:g"]), TEXT | st.binary(max_size=9))
    | st.tuples(st.just("note"), TEXT, st.booleans())
    | st.tuples(st.just("fork"))
)


TOUCH = {"run": "r", "number": 1, "key": "a", "agent": "planner", "at": 1.5}
"""A run's record of a write that isn't committed."""


@asynccontextmanager
async def exchange(folder: Path) -> AsyncIterator[tuple[Journal, Exchange]]:
    async with await Journal.open(folder / "data") as journal:
        yield journal, Exchange(journal, Settings(agents=folder, port=1))


class Story:
    """Writes a session's history, step by step."""

    def __init__(self, journal: Journal, session: SessionRow, other: SessionRow) -> None:
        self.journal, self.session, self.other = journal, session, other
        self.count = 0

    async def step(self, what: str, *args: Any) -> None:
        self.count += 1
        await getattr(self, what)(*args)

    async def event(self, delta: dict[str, Any], text: str, **more: Any) -> None:
        await self._append(self.session, delta, text, **more)

    async def elsewhere(self, delta: dict[str, Any]) -> None:
        await self._append(self.other, delta, "")

    async def _append(
        self,
        session: SessionRow,
        delta: dict[str, Any],
        text: str,
        run: str | None = None,
        **more: Any,
    ) -> None:
        event = {
            "id": f"e{self.count}",
            "invocationId": "i",
            "author": "agent",
            "timestamp": float(self.count),
            "content": {"parts": [{"text": text}]},
            "actions": {"stateDelta": delta},
            **more,
        }
        new = event_of(Event.of(event), final=bool(text))
        timed = replace(new, paused=0.125 if run else 0.0)
        await self.journal.events.append(session.key, timed, run)

    async def run(self, end: str, delta: dict[str, Any], text: str) -> None:
        journal, key, name = self.journal, self.session.key, f"run-{self.session.key}-{self.count}"
        await journal.runs.start(name, key, "i", '{"parts":[]}')
        edit = NewEdit(
            name, "after_model", "agent", None, None, None, "edit", "Ada", 1.0, "{}", "1"
        )
        row = await journal.edits.add(key, edit)
        held = json.dumps({"customMetadata": {EDITED: [{"edit": row.id}]}})
        again = replace(edit, event="x", action="drop", before=held, after=held)
        await journal.edits.add(key, again)
        pieces = [json.dumps({"content": {"parts": [{"text": piece}]}}) for piece in text]
        chunks = [*((f"e{self.count}", piece) for piece in pieces), ("never", "{}")]
        await journal.events.add_chunks(key, name, chunks)
        await self.spans(name, text)
        marks = {EDITED: [{"edit": row.id, "gate": "after_model", "action": "edit", "by": "Ada"}]}
        await self.event(delta, text, run=name, customMetadata=marks)
        touch_json = json.dumps({**TOUCH, "value": json.dumps(text)})
        touch = NewTouch(1, f"e{self.count}", None, touch_json)
        lost = NewTouch(2, "lost", None, json.dumps(TOUCH))
        await journal.uncommitted.put(key, name, [touch, lost])
        await journal.runs.add_output(name, [OutputLine("stdout", text, 2.0)] * 3)
        await journal.runs.keep_position(name, '{"gate":"x"}')
        status: Any = end
        await journal.runs.change(name, status, error='{"type":"E"}', unfinished="[]", paused=0.25)

    async def spans(self, run: str, text: str) -> None:
        """Add a model request, in pieces, and a tool call whose arguments look like pieces."""
        request = {"model": "m", "stream": True, "system": "h1", "tools": None, "config": None}
        request |= {"contents": ["h2", "h1"]}
        agent = NewSpan(run, 1, None, "agent", "agent", "agent", None, None, 1.5, None)
        model = replace(agent, number=2, parent=1, type="model", sent=json.dumps(request))
        tool = replace(agent, number=3, parent=1, type="tool", branch="b", call="c")
        tool = replace(tool, sent='{"system":"no piece","contents":[]}')
        ends = [
            SpanEnd(run, 2, 0.5, 0.1, None, "[[0.1,{}]]"),
            SpanEnd(run, 3, 1.0, None, "bad", None),
        ]
        pieces = {"h1": json.dumps(text), "h2": '{"x":1}'}
        await self.journal.spans.add(self.session.key, [agent, model, tool], ends, pieces)

    async def file(self, name: str, content: str | bytes) -> None:
        content_field: dict[str, Any] = {"text" if isinstance(content, str) else "data": content}
        names = ("travel", "ada", self.session.id)
        await self.journal.artifacts.save(
            *names, name, mime="a/b", custom_metadata={"x": 1}, **content_field
        )

    async def note(self, text: str, starred: bool) -> None:
        row = await self.journal.sessions.get(self.session.key)
        number = (row.events if row else 0) and self.count % ((row.events if row else 0) + 1)
        await self.journal.notes.put(
            self.session.key, number, text=text, starred=starred, actor="Ada"
        )

    async def fork(self) -> None:
        row = await self.journal.sessions.get(self.session.key)
        cut = (row.events if row else 0) * 2 // 3
        new = NewFork(number=cut, id=f"fork{self.count}", reason="same", note="why")
        self.session = await self.journal.forks.make(self.session.key, new)


async def exported(bundles: Exchange, key: int, options: ExportOptions = ExportOptions()) -> str:  # noqa: B008
    return "".join([line async for line in bundles.lines(key, options)])


async def seen(journal: Journal, key: int) -> list[Any]:
    """Return what pages show of a session, without numbers that only this journal uses."""
    row = await journal.sessions.get(key)
    assert row is not None
    facts: list[Any] = [row.title, row.events, row.tokens, row.created, row.updated]
    for number in range(row.events + 1):
        seq = await journal.state.moment(key, number)
        values = await journal.state.at(key, seq)
        facts.append([(v.scope, v.key, v.value, v.number, v.initial) for v in values])
        body = await journal.events.body(key, number)
        facts.append(body and (body[0].kind, body[0].final, body[0].chunks, body[1].content.fields))
        facts.append(
            [(s.type, s.name, s.number, s.error) for s in await journal.spans.of_event(key, number)]
        )
    runs = sorted(await journal.runs.list(key), key=lambda run: run.seq)
    facts += [(r.status, r.error, r.message, await journal.runs.output(r.id)) for r in runs]
    edits = {row.id: row.edit for row in await journal.edits.list(key)}
    for edit in edits.values():
        for text in (edit.before, edit.after):
            marks = (json.loads(text) or {}).get("customMetadata", {}) if "{" in text else {}
            facts.append([edits[mark["edit"]].action for mark in marks.get(EDITED, ())])
    facts.append(await journal.artifacts.keys(row.app, row.user, row.id))
    facts.append([(n.number, n.text, n.starred) for n in (await journal.notes.of(key)).values()])
    return facts


def extended(text: str, extras: list[tuple[int, dict[str, Any]]]) -> str:
    """Add members of a later devui version to some lines of a bundle."""
    lines = text.removesuffix("\n").split("\n")
    for place, members in extras:
        n = place % len(lines)
        members_json = compact_json({f"x{n}-{name}": value for name, value in members.items()})[
            1:-1
        ]
        if f'"x{n}-' in lines[n]:
            continue
        if n == 0:
            lines[0] = lines[0].removesuffix(OPENING) + f"{members_json},{OPENING}"
        else:
            lines[n] = f"{lines[n][:-1]},{members_json}}}"
    return "\n".join(lines) + "\n"


@pytest.mark.req("R27")
@settings(max_examples=rounds(10, 25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(start=DELTA, steps=st.lists(STEP, max_size=12), extras=EXTRA)
def test_exporting_an_imported_bundle_gives_the_same_file(
    start: dict[str, Any], steps: list[Any], extras: list[Any]
) -> None:
    async def story() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with exchange(Path(folder)) as (journal, bundles):
                other = await journal.sessions.create(
                    "travel", "ada", "other", {"user:name": "before"}
                )
                teller = Story(
                    journal,
                    await journal.sessions.create("travel", "ada", "s", start, title="T"),
                    other,
                )
                for step in steps:
                    await teller.step(*step)
                key = teller.session.key
                first = extended(await exported(bundles, key), extras)
                row = await bundles.take(io.BytesIO(first.encode()), words_of=str)
                assert await exported(bundles, row.key) == first
                assert await seen(journal, row.key) == await seen(journal, key)
                assert json.loads(first)["count"] == len(json.loads(first)["records"])

    asyncio.run(story())


async def eventful_session(bundles: Exchange, journal: Journal) -> tuple[SessionRow, str]:
    """Return a session with records of every kind, and its bundle."""
    other = await journal.sessions.create("travel", "ada", "other", {})
    story = Story(journal, await journal.sessions.create("travel", "ada", "s", {"a": 1}), other)
    await story.step("elsewhere", {"user:name": "Ada"})
    await story.step("run", "done", {"a": 2, "user:lang": "en"}, "hello")
    await story.step("file", "f.bin", b"\x00\xff")
    await journal.notes.put(story.session.key, 1, text="look here", starred=True, actor="Ada")
    await story.step("event", {"b": None}, "bye")
    return story.session, await exported(bundles, story.session.key)


def wrong_files(text: str) -> dict[str, bytes]:
    """Return files that aren't valid bundles, by a part of the error that each one causes."""
    lines = text.splitlines(keepends=True)
    event = next(n for n, line in enumerate(lines) if '"type":"event"' in line)

    def other(number: int, old: str, new: str) -> bytes:
        assert old in lines[number], lines[number]
        changed = lines.copy()
        changed[number] = changed[number].replace(old, new)
        return "".join(changed).encode()

    at = f"line {event + 1}: "
    number = '"number":1'
    return {
        "the file is empty": b"",
        "not a devui session": b'{"format":"other","records":[\n]}',
        "has version": other(0, '"version":1', '"version":2'),
        "is truncated": "".join(lines[:-1]).encode(),
        "part of the file is missing": "".join(lines[:-3] + lines[-1:]).encode(),
        "line 2: invalid JSON": (lines[0] + "{nonsense\n").encode(),
        "line 2: invalid UTF-8": lines[0].encode() + b"\xff\xfe\n",
        "line 2: an object has a duplicate key": (lines[0] + '{"a":1,"a":2}\n').encode(),
        "line 2: NaN is not a valid": (lines[0] + '{"a":NaN}\n').encode(),
        "line 2: nested": (lines[0] + "[" * 5000 + "]" * 5000).encode(),
        at + "expected event 1, found event 7": other(event, number, '"number":7'),
        at + "event.number: Input should be greater": other(event, number, '"number":-1'),
        at + "event.number: Field required": other(event, number, '"__class__":"os.x"'),
        "larger than 1,048,576 bytes": other(event, number, f'"x":"{"y" * LARGEST}",{number}'),
        "line 1: an object has a duplicate key": other(0, '"version"', '"count":7,"version"'),
        f"line {len(lines)}: an object has a duplicate key": other(
            -1, '"count"', '"app":1,"count"'
        ),
        f"line {len(lines)}: the text contains the lone": other(
            -1, '"count"', r'"x":"\ud800","count"'
        ),
        at + "event.final: Input should be": other(event, '"final":true', '"final":"x"'),
        at + "content: Input should be": other(event, '"content":{', '"content":7,"x":{'),
        at + "the state key 'temp:x' is temporary": other(event, '"a":2', '"temp:x":2'),
        "not a bundle": b'{"records":{}}',
        "data after the end": (text + lines[1]).encode(),
    }


@pytest.mark.req("R27")
async def test_a_bad_bundle_is_refused_with_its_line_and_stores_nothing(tmp_path: Path) -> None:
    async with exchange(tmp_path) as (journal, bundles):
        _, text = await eventful_session(bundles, journal)
        before = len(await journal.sessions.list("travel"))
        for sentence, data in wrong_files(text).items():
            with pytest.raises(BadBundle) as refusal:
                await bundles.take(io.BytesIO(data), words_of=str)
            assert sentence in str(refusal.value)
        assert len(await journal.sessions.list("travel")) == before


@pytest.mark.req("R27")
@pytest.mark.parametrize(
    ("kind", "member", "value", "sentence"),
    [
        ("touch", "data", 7, "data: Input should be a valid dict"),
        ("touch", "data", {**TOUCH, "agent": 7}, "data: Value error, agent: Input should be"),
        ("touch", "data", {**TOUCH, "reads": [1]}, "data: Value error, reads: Input should be"),
        ("span", "sent", {"contents": [7]}, "contents.0: Input should be a valid string"),
        ("span", "sent", {"contents": [], "tools": []}, "tools: Input should be a valid string"),
        ("run", "unfinished", 7, "unfinished: Value error, : Input should be a valid list"),
        ("run", "unfinished", [{"author": "a"}], "unfinished: Value error, 0.text: Field req"),
    ],
)
async def test_a_record_member_of_the_wrong_type_is_refused(
    tmp_path: Path, kind: str, member: str, value: Any, sentence: str
) -> None:
    async with exchange(tmp_path) as (journal, bundles):
        _, text = await eventful_session(bundles, journal)
        bundle = json.loads(text)
        records = [each for each in bundle["records"] if each["type"] == kind]
        next(each for each in records if each.get("kind", "model") == "model")[member] = value
        with pytest.raises(BadBundle, match=re.escape(sentence)):
            await bundles.take(io.BytesIO(json.dumps(bundle).encode()), words_of=str)


@pytest.mark.req("R27")
async def test_an_imported_session_is_read_only_and_continues_in_a_fork(tmp_path: Path) -> None:
    async with exchange(tmp_path) as (journal, bundles):
        session, text = await eventful_session(bundles, journal)
        pretty = json.dumps(json.loads(text), indent=2)  # as if an editor had reformatted it
        row = await bundles.take(
            io.BytesIO(pretty.encode()), ImportOptions(app="elsewhere"), words_of=str
        )
        assert (row.app, row.user, row.events) == ("elsewhere", "ada", 2)
        assert row.id != session.id
        with pytest.raises(ReadOnly, match="fork it to continue"):
            await journal.runs.start("r", row.key)
        with pytest.raises(ReadOnly):
            await journal.events.append(row.key, event_of(Event.of(*_event("x")), final=True), None)
        fork = await journal.forks.make(row.key, NewFork(number=2, id="mine", reason="same"))
        await journal.runs.start("r", fork.key)
        with pytest.raises(RunActive):
            await journal.runs.start("r2", fork.key)
        assert (await journal.notes.of(fork.key))[1].text == "look here"
        assert json.loads(await exported(bundles, row.key)) == json.loads(text) | {
            "forks": [json.loads(await exported(bundles, row.key))["forks"][-1]]
        }
        neighbor = await journal.sessions.create("elsewhere", "ada", "later", {})
        assert await journal.state.merged(neighbor.key) == {}  # imported state isn't shared


def _event(name: str) -> tuple[dict[str, Any], str]:
    event = {"id": name, "invocationId": "i", "author": "user", "timestamp": 1.0}
    return event, json.dumps(event)


async def test_secrets_and_chosen_keys_are_not_exported(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("SERVICE_PASSWORD=hunter2-hunter2\nREGION=europe\n")
    async with exchange(tmp_path) as (journal, bundles):
        state = {"note": "hunter2-hunter2", "user:mail": "ada@example.org", "where": "europe"}
        session = await journal.sessions.create("travel", "ada", "s", state)
        story = Story(journal, session, session)
        key = "sk-ant-" + "a1B2" * 10
        await story.step("run", "done", {"a": f"Bearer {key}"}, f"use {key} at ada@example.org")
        await story.step("file", "f.txt", "it is hunter2-hunter2!")
        await story.step("file", "f.bin", b"\xff hunter2-hunter2")
        plain = await exported(bundles, session.key, ExportOptions(keep_secrets=True))
        assert all(text in plain for text in ("hunter2-hunter2", key, "ada@example.org"))

        options = ExportOptions(keys=frozenset({"user:mail"}))
        clean = await exported(bundles, session.key, options)
        for secret in ("hunter2", "a1B2", "ada@example.org"):
            assert secret not in clean
        assert json.loads(clean)["redacted"] >= 6
        assert "europe" in clean  # a plain word isn't a secret
        chunks = [r["data"] for r in json.loads(clean)["records"] if r["type"] == "chunk"]
        texts = [part["text"] for data in chunks if data for part in data["content"]["parts"]]
        assert "".join(texts) == f"use {MARK} at {MARK}"  # each chunk has one character

        preview = await bundles.preview(session.key, options)
        findings = {(each.kind, each.hint[:3]): each for each in preview.findings}
        assert findings["a value of .env", "hun"].places[0] == "state"
        assert "event #1" in findings["an Anthropic key", "sk-"].places
        assert ("the state key user:mail", "") in findings
        assert "a1B2" not in str(preview)
        assert preview.keys == ("a", "note", "user:mail", "where")

        row = await bundles.take(io.BytesIO(clean.encode()), words_of=str)
        assert await exported(bundles, row.key, options) == clean
