import json

import pytest

from devui.store.errors import BadValue, SessionNotFound
from devui.store.journal import Journal
from devui.store.rows import SessionRow


async def test_versions_count_from_zero_and_the_newest_is_loaded(
    journal: Journal, session: SessionRow
) -> None:
    for version in range(3):
        number = await journal.artifacts.save(
            "travel", "ada", "s1", "plan.bin", mime="image/png", data=bytes([version])
        )
        assert number == version
    newest = await journal.artifacts.load("travel", "ada", "s1", "plan.bin")
    assert newest is not None
    assert (newest.row.version, newest.data, newest.text) == (2, b"\x02", None)
    first = await journal.artifacts.load("travel", "ada", "s1", "plan.bin", version=0)
    assert first is not None
    assert (first.row.mime, first.row.size, first.data) == ("image/png", 1, b"\x00")
    rows = await journal.artifacts.versions("travel", "ada", "s1", "plan.bin")
    assert [row.version for row in rows] == [0, 1, 2]
    assert [row.seq for row in rows] == sorted(row.seq for row in rows)


async def test_a_missing_artifact_is_none(journal: Journal, session: SessionRow) -> None:
    await journal.artifacts.save("travel", "ada", "s1", "a.txt", mime=None, text="x")
    assert await journal.artifacts.load("travel", "ada", "s1", "b.txt") is None
    assert await journal.artifacts.load("travel", "ada", "s1", "a.txt", version=1) is None
    assert await journal.artifacts.load("travel", "ada", "s9", "a.txt") is None
    assert await journal.artifacts.load("travel", "ada", None, "user:a.txt") is None
    assert await journal.artifacts.versions("travel", "bob", None, "user:a.txt") == []
    assert await journal.artifacts.keys("travel", "bob", None) == []


async def test_a_user_artifact_is_shared_by_the_users_sessions(journal: Journal) -> None:
    for user, name in [("ada", "s1"), ("ada", "s2"), ("bob", "s1")]:
        await journal.sessions.create("travel", user, name, {})
    await journal.artifacts.save("travel", "ada", "s1", "user:me.txt", mime=None, text="Ada")
    await journal.artifacts.save("travel", "ada", "s1", "own.txt", mime=None, text="own")
    assert await journal.artifacts.keys("travel", "ada", "s1") == ["own.txt", "user:me.txt"]
    assert await journal.artifacts.keys("travel", "ada", "s2") == ["user:me.txt"]
    assert await journal.artifacts.keys("travel", "ada", None) == ["user:me.txt"]
    assert await journal.artifacts.keys("travel", "bob", "s1") == []
    artifact = await journal.artifacts.load("travel", "ada", "s2", "user:me.txt")
    assert artifact is not None
    assert artifact.text == "Ada"


async def test_deleting_removes_all_versions_of_one_name(
    journal: Journal, session: SessionRow
) -> None:
    for name in ("a", "a", "b"):
        await journal.artifacts.save("travel", "ada", "s1", name, mime=None, text=name)
    assert await journal.artifacts.delete("travel", "ada", "s1", "a") is True
    assert await journal.artifacts.delete("travel", "ada", "s1", "a") is False
    assert await journal.artifacts.delete("travel", "ada", "s9", "a") is False
    assert await journal.artifacts.keys("travel", "ada", "s1") == ["b"]


async def test_metadata_is_kept_as_json(journal: Journal, session: SessionRow) -> None:
    await journal.artifacts.save(
        "travel", "ada", "s1", "a", mime=None, text="é", custom_metadata={"k": [1]}
    )
    [row] = await journal.artifacts.versions("travel", "ada", "s1", "a")
    assert json.loads(row.custom_metadata or "") == {"k": [1]}
    assert row.size == 2


@pytest.mark.req("R22")
@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "C:\\x", ".", "é🙂"])
async def test_a_name_creates_no_file(journal: Journal, session: SessionRow, name: str) -> None:
    await journal.artifacts.save("travel", "ada", "s1", name, mime=None, text="x")
    assert await journal.artifacts.keys("travel", "ada", "s1") == [name]
    assert {entry.name for entry in journal.path.iterdir()} <= {
        ".gitignore",
        "journal.db",
        "journal.db-shm",
        "journal.db-wal",
        "journal.lock",
        "server.json",
    }


async def test_an_invalid_artifact_is_refused(journal: Journal, session: SessionRow) -> None:
    save = journal.artifacts.save
    with pytest.raises(SessionNotFound, match="'s9'"):
        await save("travel", "ada", "s9", "a", mime=None, text="x")
    with pytest.raises(BadValue, match="has no name"):
        await save("travel", "ada", "s1", "", mime=None, text="x")
    with pytest.raises(BadValue, match="needs a session"):
        await save("travel", "ada", None, "a", mime=None, text="x")
    with pytest.raises(BadValue, match="either data or a text"):
        await save("travel", "ada", "s1", "a", mime=None)
    with pytest.raises(BadValue, match="either data or a text"):
        await save("travel", "ada", "s1", "a", mime=None, text="x", data=b"x")
    with pytest.raises(BadValue, match="NUL"):
        await save("travel", "ada", "s1", "a\0", mime=None, text="x")
    with pytest.raises(BadValue, match="metadata"):
        await save(
            "travel",
            "ada",
            "s1",
            "a",
            mime=None,
            text="x",
            custom_metadata={"k": 1j},  # type: ignore[dict-item]  # the point of the test
        )
    assert await journal.artifacts.keys("travel", "ada", "s1") == []
