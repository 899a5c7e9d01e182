import math
from typing import Any

import pytest

from devui.store.errors import BadValue
from devui.store.journal import Journal
from devui.store.rows import Change, SessionRow, Value
from tests.store.kit import event_with, new_event


async def test_initial_state_is_stored_in_the_scope_of_its_prefix(journal: Journal) -> None:
    state = {"city": "Rome", "user:name": "Ada", "app:rate": 1.5, "temp:draft": "x"}
    row = await journal.sessions.create("travel", "ada", "s1", state)
    assert await journal.state.at(row.key) == [
        Value("session", "city", '"Rome"', row.seq, None),
        Value("user", "name", '"Ada"', row.seq, None),
        Value("app", "rate", "1.5", row.seq, None),
    ]
    del state["temp:draft"]
    assert await journal.sessions.initial_state(row.key) == state
    assert await journal.state.merged(row.key) == state
    assert await journal.state.shared(row.key) == {"user:name": "Ada", "app:rate": 1.5}


async def test_the_initial_state_is_unaffected_by_later_writes(journal: Journal) -> None:
    row = await journal.sessions.create("travel", "ada", "s1", {"a": 1})
    await journal.events.append(row.key, new_event(a=2), None)
    assert await journal.sessions.initial_state(row.key) == {"a": 1}


async def test_state_as_of_each_event_is_exact(journal: Journal, session: SessionRow) -> None:
    deltas: list[dict[str, Any]] = [{"a": 1}, {}, {"a": None, "b": [1]}, {"b": {"x": "é"}}]
    expected: dict[str, Any] = {}
    for number, delta in enumerate(deltas, 1):
        done = await journal.events.append(session.key, event_with(delta, f"e{number}"), None)
        expected |= delta
        assert await journal.state.merged(session.key) == expected
        assert [v.key for v in await journal.state.at(session.key, done.seq)] == sorted(expected)
    [early] = await journal.state.at(session.key, session.seq + 1)
    assert (early.value, early.number) == ("1", 1)
    assert await journal.state.at(session.key, session.seq) == []


async def test_a_key_set_to_none_stays_as_null(journal: Journal, session: SessionRow) -> None:
    done = await journal.events.append(session.key, new_event(a=None), None)
    assert await journal.state.at(session.key) == [Value("session", "a", "null", done.seq, 1)]


async def test_user_and_app_keys_include_other_sessions_writes_up_to_the_moment(
    journal: Journal,
) -> None:
    mine = await journal.sessions.create("travel", "ada", "mine", {})
    other = await journal.sessions.create("travel", "ada", "other", {})
    stranger = await journal.sessions.create("travel", "bob", "bobs", {})
    await journal.events.append(mine.key, event_with({"user:name": "Ada"}, "m1"), None)
    before = await journal.events.append(mine.key, event_with({"own": 1}, "m2"), None)
    await journal.events.append(
        other.key, event_with({"user:name": "Lovelace", "own": 2}, "o1"), None
    )
    await journal.events.append(stranger.key, event_with({"app:rate": 2, "user:name": "Bob"}), None)

    then = {(v.scope, v.key): v for v in await journal.state.at(mine.key, before.seq)}
    assert then.keys() == {("user", "name"), ("session", "own")}
    assert (then["user", "name"].value, then["user", "name"].number) == ('"Ada"', 1)
    now = {(v.scope, v.key): v for v in await journal.state.at(mine.key)}
    assert (now["user", "name"].value, now["user", "name"].number) == ('"Lovelace"', None)
    assert (now["session", "own"].value, now["app", "rate"].value) == ("1", "2")


async def test_changes_of_an_event_have_old_and_new_values(journal: Journal) -> None:
    row = await journal.sessions.create("travel", "ada", "s1", {"a": 1, "user:n": "x"})
    await journal.events.append(
        row.key, event_with({"user:n": "y", "b": None, "a": 1, "app:r": 0}), None
    )
    assert await journal.state.changes(row.key, 1) == [
        Change("session", "a", "1", "1"),
        Change("session", "b", None, "null"),
        Change("user", "n", '"x"', '"y"'),
        Change("app", "r", None, "0"),
    ]
    assert await journal.state.changes(row.key, 2) == []


async def test_a_temporary_key_in_a_committed_delta_is_refused(
    journal: Journal, session: SessionRow
) -> None:
    with pytest.raises(BadValue, match="temp:draft"):
        await journal.events.append(session.key, event_with({"temp:draft": 1}), None)
    assert await journal.events.since(session.key, 0) == []


@pytest.mark.parametrize("value", [math.nan, math.inf, {1, 2}, object(), "\udfff", ["\ud800"]])
async def test_a_value_without_a_json_form_is_refused(
    journal: Journal, session: SessionRow, value: Any
) -> None:
    with pytest.raises(BadValue, match="'a'"):
        await journal.events.append(session.key, new_event(a=value), None)
    assert await journal.events.since(session.key, 0) == []


@pytest.mark.parametrize(
    "value", ["a\0b", "🙂", 2**70, -0.0, 1e300, [], {}, {"": [None, True]}, "x" * 100_000]
)
async def test_every_json_value_round_trips(
    journal: Journal, session: SessionRow, value: Any
) -> None:
    await journal.events.append(session.key, event_with({"a": value, "user:": value}), None)
    assert await journal.state.merged(session.key) == {"a": value, "user:": value}


async def test_an_unknown_session_has_no_state(journal: Journal) -> None:
    assert await journal.state.at(7) == []
    assert await journal.state.merged(7) == {}
    assert await journal.state.shared(9) == {}
