import uuid

import pytest

from devui.store.errors import BadValue, RunActive, SessionExists, SessionNotFound
from devui.store.journal import Journal
from devui.store.rows import OutputLine
from tests.store.kit import append_many, new_event


async def test_a_new_session_is_found_by_key_and_by_name(journal: Journal) -> None:
    row = await journal.sessions.create("travel", "ada", "s1", {}, title="To London")
    assert (row.app, row.user, row.id, row.title) == ("travel", "ada", "s1", "To London")
    assert (row.events, row.created) == (0, row.updated)
    assert await journal.sessions.get(row.key) == row
    assert await journal.sessions.find("travel", "ada", "s1") == row


@pytest.mark.parametrize("blank", [None, "", "  \n"])
async def test_a_blank_id_becomes_a_random_one(journal: Journal, blank: str | None) -> None:
    row = await journal.sessions.create("travel", "ada", blank, {})
    assert str(uuid.UUID(row.id)) == row.id


async def test_whitespace_around_an_id_is_stripped_as_in_adk(journal: Journal) -> None:
    assert (await journal.sessions.create("travel", "ada", " s1 ", {})).id == "s1"


async def test_an_id_is_unique_per_app_and_user(journal: Journal) -> None:
    for app, user in [("travel", "ada"), ("travel", "bob"), ("weather", "ada")]:
        await journal.sessions.create(app, user, "s1", {})
    with pytest.raises(SessionExists, match="'s1'"):
        await journal.sessions.create("travel", "ada", "s1", {})


async def test_a_missing_session_is_none(journal: Journal) -> None:
    assert await journal.sessions.get(99) is None
    assert await journal.sessions.get(10**30) is None
    assert await journal.sessions.find("travel", "ada", "s1") is None


async def test_the_most_recently_active_session_comes_first(journal: Journal) -> None:
    first, second, third = [
        await journal.sessions.create("travel", "ada", name, {}) for name in ("a", "b", "c")
    ]
    await journal.events.append(first.key, new_event(timestamp=third.updated + 1), None)
    await journal.sessions.rename(second.key, "a title isn't activity")
    assert [row.id for row in await journal.sessions.list("travel")] == ["a", "c", "b"]


async def test_a_list_can_be_limited_in_length_and_to_one_user(journal: Journal) -> None:
    for number in range(9):
        await journal.sessions.create("travel", f"user{number % 3}", f"s{number}", {})
    await journal.sessions.create("weather", "user0", "other", {})
    names = [f"s{number}" for number in reversed(range(9))]
    assert [row.id for row in await journal.sessions.list("travel")] == names
    of_user = await journal.sessions.list("travel", "user1", limit=2)
    assert [row.id for row in of_user] == ["s7", "s4"]


async def test_renaming_does_not_affect_the_state_or_the_update_time(journal: Journal) -> None:
    row = await journal.sessions.create("travel", "ada", "s1", {"a": 1})
    renamed = await journal.sessions.rename(row.key, "London")
    assert (renamed.title, renamed.updated) == ("London", row.updated)
    assert renamed.seq > row.seq
    assert await journal.state.merged(row.key) == {"a": 1}
    assert (await journal.sessions.rename(row.key, None)).title is None
    with pytest.raises(SessionNotFound):
        await journal.sessions.rename(row.key + 1, "nobody")


async def test_a_deleted_session_leaves_only_shared_state(journal: Journal) -> None:
    row = await journal.sessions.create("travel", "ada", "s1", {"own": 1, "user:name": "Ada"})
    await journal.runs.start("r1", row.key)
    await journal.events.append(row.key, new_event(own=2), "r1")
    await journal.events.add_chunks(row.key, "r1", [("e1", "{}")])
    await journal.runs.add_output("r1", [OutputLine("stdout", "gone", 0.0)])
    await journal.artifacts.save("travel", "ada", "s1", "a.txt", mime=None, text="gone")
    with pytest.raises(RunActive):
        await journal.sessions.delete(row.key)
    await journal.runs.change("r1", "done")
    assert await journal.sessions.delete(row.key) is True
    assert await journal.sessions.delete(row.key) is False
    assert await journal.sessions.get(row.key) is None
    assert await journal.events.since(row.key, 0) == []
    assert await journal.events.chunks(row.key, "e1") == []
    assert await journal.runs.get("r1") is None
    for table, count in [
        ("writes", 1),
        ("scopes", 2),
        ("output", 0),
        ("artifacts", 0),
        ("kinds", 0),
    ]:
        assert await journal._database.fetch(f"SELECT count(*) FROM {table}") == [(count,)]
    again = await journal.sessions.create("travel", "ada", "s1", {})
    assert again.key != row.key
    assert await journal.state.merged(again.key) == {"user:name": "Ada"}
    assert await journal.artifacts.keys("travel", "ada", "s1") == []


async def test_a_key_is_never_reused(journal: Journal) -> None:
    keys = []
    for _ in range(3):
        row = await journal.sessions.create("travel", "ada", "s1", {})
        keys.append(row.key)
        await journal.sessions.delete(row.key)
    assert len(set(keys)) == 3


async def test_recent_sessions_and_counts_cover_all_apps(journal: Journal) -> None:
    for app, count in [("travel", 2), ("weather", 1)]:
        for number in range(count):
            row = await journal.sessions.create(app, "ada", f"s{number}", {})
            await append_many(journal, row.key, 2)
    assert [row.app for row in await journal.sessions.recent(2)] == ["weather", "travel"]
    assert await journal.sessions.counts() == {"travel": (2, 2.0), "weather": (1, 2.0)}


@pytest.mark.parametrize("bad", ["a\0b", "\ud800"])
@pytest.mark.parametrize("place", ["app", "user", "id", "title", "key", "value"])
async def test_a_text_that_sqlite_cannot_store_is_refused(
    journal: Journal, bad: str, place: str
) -> None:
    texts = {"app": "travel", "user": "ada", "id": "s1", "title": "t", "key": "k", "value": "v"}
    texts[place] = bad
    if (place, bad) == ("value", "a\0b"):
        return  # JSON has an escape for it
    with pytest.raises(BadValue):
        await journal.sessions.create(
            texts["app"],
            texts["user"],
            texts["id"],
            {texts["key"]: texts["value"]},
            title=texts["title"],
        )
    assert await journal.sessions.recent(10) == []
