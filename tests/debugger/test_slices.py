"""Exports share the event loop with other tasks."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devui.debugger.background.slices import PIECE, SLICE, encode
from devui.debugger.bundles.exchange import Exchange, ExportOptions
from devui.debugger.bundles.writing import compact_json
from devui.debugger.runs.commit import event_of
from devui.settings import Settings
from devui.store.journal import Journal
from devui.wire.events import Event

EVENTS = 600
SIZE = 20_000
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | NUMBERS | st.text(max_size=5) | st.just("x" * SLICE)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@given(VALUES)
def test_json_encoded_in_pieces_is_the_same(value: object) -> None:
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
    assert encode(value, encoder) == encoder.encode(value)
    assert json.loads(compact_json(value)) == value


class Counted(json.JSONEncoder):
    """Records the longest text that it encoded in one call, during which no other thread runs."""

    longest = 0

    def encode(self, o: object) -> str:
        text = super().encode(o)
        self.longest = max(self.longest, len(text))
        return text


@pytest.mark.parametrize(
    "value",
    [
        {f"key {n}": ["x" * 50, {"n": n}] for n in range(60_000)},
        [[n, None, True, 1.5] for n in range(200_000)],
        {"content": {"parts": [{"response": {"result": [{"a": "b" * 20}] * 100_000}}]}},
        ["x" * 1000] * 5000,
    ],
)
def test_the_json_of_a_large_value_is_encoded_in_small_pieces(value: object) -> None:
    encoder = Counted()
    assert encode(value, encoder) == json.dumps(value)
    assert encoder.longest <= 2 * PIECE


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[Journal]:
    async with await Journal.open(tmp_path / "data") as journal:
        yield journal


async def long_session(journal: Journal) -> int:
    """Create a session of twelve megabytes."""
    session = await journal.sessions.create("app", "u", None, {})
    for number in range(EVENTS):
        content = {"role": "model", "parts": [{"text": "x" * SIZE}]}
        event = {"id": f"e{number}", "author": "A", "timestamp": 1.0, "content": content}
        new = event_of(Event.of(event), final=True)
        await journal.events.append(session.key, new, None)
    return session.key


async def test_an_export_yields_to_the_event_loop_every_few_lines(
    journal: Journal, tmp_path: Path
) -> None:
    key = await long_session(journal)
    done, longest, last = 0, 0, 0

    async def others() -> None:
        nonlocal longest, last
        while True:
            await asyncio.sleep(0)
            longest, last = max(longest, done - last), done

    turning = asyncio.create_task(others())
    async for line in Exchange(journal, Settings(agents=tmp_path)).lines(key, ExportOptions()):
        done += len(line)
    turning.cancel()
    assert done > EVENTS * SIZE
    assert 0 < longest <= SLICE + 2 * SIZE
