from pathlib import Path

import pytest

from devui.store.errors import BadValue, BreakpointChanged, BreakpointNotFound
from devui.store.journal import Journal


async def test_breakpoints_are_kept_in_the_order_they_were_made(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path) as journal:
        first = await journal.breakpoints.add("travel", '{"on":"event"}')
        second = await journal.breakpoints.add("other", "{}", enabled=False)
        assert (first.version, first.enabled, first.hits) == (1, True, 0)
    async with await Journal.open(tmp_path) as journal:
        assert await journal.breakpoints.all() == [first, second]


async def test_a_change_increments_the_version_and_keeps_other_fields(journal: Journal) -> None:
    row = await journal.breakpoints.add("travel", '{"a":1}')
    off = await journal.breakpoints.change(row.id, 1, enabled=False)
    assert (off.version, off.enabled, off.data) == (2, False, '{"a":1}')
    new = await journal.breakpoints.change(row.id, 2, data='{"a":2}')
    assert (new.version, new.enabled, new.data) == (3, False, '{"a":2}')
    with pytest.raises(BreakpointChanged, match="has version 3, not 2"):
        await journal.breakpoints.change(row.id, 2, enabled=True)
    assert await journal.breakpoints.all() == [new]


async def test_hits_are_counted_without_a_new_version(journal: Journal) -> None:
    row = await journal.breakpoints.add("travel", "{}")
    await journal.breakpoints.hit(row.id)
    hit = await journal.breakpoints.hit(row.id)
    assert hit is not None
    assert (hit.hits, hit.version) == (2, 1)


async def test_the_id_of_a_deleted_breakpoint_is_never_reused(journal: Journal) -> None:
    row = await journal.breakpoints.add("travel", "{}")
    assert await journal.breakpoints.delete(row.id) is True
    assert await journal.breakpoints.delete(row.id) is False
    assert await journal.breakpoints.hit(row.id) is None
    with pytest.raises(BreakpointNotFound):
        await journal.breakpoints.change(row.id, 1, enabled=True)
    with pytest.raises(BreakpointNotFound):
        await journal.breakpoints.change(2**70, 1, enabled=True)
    assert (await journal.breakpoints.add("travel", "{}")).id > row.id


async def test_a_text_that_sqlite_cannot_store_is_refused(journal: Journal) -> None:
    with pytest.raises(BadValue):
        await journal.breakpoints.add("travel", "a\0b")


async def test_a_users_own_switch_is_stored_without_a_new_version(tmp_path: Path) -> None:
    async with await Journal.open(tmp_path) as journal:
        row = await journal.breakpoints.add("travel", "{}")
        other = await journal.breakpoints.add("travel", "{}")
        assert await journal.breakpoints.switch(row.id, 1, "ada", enabled=False) == row
        await journal.breakpoints.switch(row.id, 1, "bo", enabled=True)
        await journal.breakpoints.switch(row.id, 1, "bo", enabled=False)
        await journal.breakpoints.switch(other.id, 1, "ada", enabled=True)
        with pytest.raises(BreakpointChanged):
            await journal.breakpoints.switch(row.id, 2, "ada", enabled=True)
        with pytest.raises(BreakpointNotFound):
            await journal.breakpoints.switch(99, 1, "ada", enabled=True)
        with pytest.raises(BadValue):
            await journal.breakpoints.switch(row.id, 1, "a\0", enabled=True)
        await journal.breakpoints.delete(other.id)
    async with await Journal.open(tmp_path) as journal:
        flags = await journal.breakpoints.flags()
        assert flags == [(row.id, "ada", False), (row.id, "bo", False)]
