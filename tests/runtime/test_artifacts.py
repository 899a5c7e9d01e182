"""Artifacts in memory (adk-runtime 10.1)."""

import pytest
from google.genai import types

from devui.runtime.artifacts import FileArtifactService, InMemoryArtifactService
from devui.runtime.errors import InputValidationError

USER = {"app_name": "app", "user_id": "u"}
WHERE = {**USER, "session_id": "s"}


def part(value: str) -> types.Part:
    return types.Part(text=value)


def reference(path: str) -> types.Part:
    return types.Part(file_data=types.FileData(file_uri=f"artifact://apps/app/users/u/{path}"))


class Int64:
    """Like numpy's: usable as an int without being one."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __index__(self) -> int:
        return self.value


async def test_versions_count_from_zero():
    service = InMemoryArtifactService()
    assert [
        await service.save_artifact(**WHERE, filename="a", artifact=part(t)) for t in "xyz"
    ] == [0, 1, 2]
    assert await service.list_versions(**WHERE, filename="a") == [0, 1, 2]
    assert await service.load_artifact(**WHERE, filename="a") == part("z")
    assert await service.load_artifact(**WHERE, filename="a", version=0) == part("x")
    for missing in (-1, 3):
        assert await service.load_artifact(**WHERE, filename="a", version=missing) is None
        assert await service.get_artifact_version(**WHERE, filename="a", version=missing) is None


async def test_a_version_may_be_an_integer_of_another_library():
    service = InMemoryArtifactService()
    for text in "xy":
        await service.save_artifact(**WHERE, filename="a", artifact=part(text))
    assert await service.load_artifact(**WHERE, filename="a", version=Int64(0)) == part("x")


async def test_metadata_in_memory_may_have_any_keys():
    service = InMemoryArtifactService()
    await service.save_artifact(
        **WHERE, filename="a", artifact=part("x"), custom_metadata={1: "a", ("x", 2): None}
    )
    about = await service.get_artifact_version(**WHERE, filename="a")
    assert about.custom_metadata == {1: "a", ("x", 2): None}


async def test_get_artifact_version_describes_a_version():
    service = InMemoryArtifactService()
    blob = types.Blob(data=b"x", mime_type="image/png")
    image = types.Part(inline_data=blob)
    await service.save_artifact(**WHERE, filename="a", artifact=image, custom_metadata={"k": 1})
    about = await service.get_artifact_version(**WHERE, filename="a")
    assert (about.version, about.mime_type, about.custom_metadata) == (0, "image/png", {"k": 1})
    assert about.canonical_uri == "memory://apps/app/users/u/sessions/s/artifacts/a/versions/0"
    assert await service.list_artifact_versions(**WHERE, filename="a") == [about]


async def test_files_of_the_user_are_visible_in_every_session():
    service = InMemoryArtifactService()
    await service.save_artifact(**WHERE, filename="b", artifact=part("mine"))
    await service.save_artifact(**WHERE, filename="user:a", artifact=part("ours"))
    assert await service.list_artifact_keys(**WHERE) == ["b", "user:a"]
    assert await service.list_artifact_keys(**USER, session_id="other") == ["user:a"]
    assert await service.list_artifact_keys(**USER) == ["user:a"]
    about = await service.get_artifact_version(**USER, filename="user:a")
    assert about.canonical_uri == "memory://apps/app/users/u/artifacts/user:a/versions/0"


async def test_saved_and_loaded_artifacts_are_copies():
    service, original = InMemoryArtifactService(), part("x")
    await service.save_artifact(**WHERE, filename="a", artifact=original)
    original.text = "changed"
    (await service.load_artifact(**WHERE, filename="a")).text = "changed"
    assert await service.load_artifact(**WHERE, filename="a") == part("x")


async def test_a_deleted_file_is_gone():
    service = InMemoryArtifactService()
    await service.save_artifact(**WHERE, filename="a", artifact={"text": "from a dict"})
    for _ in range(2):
        await service.delete_artifact(**WHERE, filename="a")
    assert await service.load_artifact(**WHERE, filename="a") is None
    assert await service.list_artifact_keys(**WHERE) == []
    assert await service.list_versions(**WHERE, filename="a") == []


async def test_references_are_followed_within_their_scope():
    service = InMemoryArtifactService()
    await service.save_artifact(**WHERE, filename="a", artifact=part("x"))
    pointer = reference("sessions/s/artifacts/a/versions/0")
    await service.save_artifact(**WHERE, filename="b", artifact=pointer)
    assert await service.load_artifact(**WHERE, filename="b") == part("x")
    await service.save_artifact(
        **WHERE, filename="c", artifact=reference("sessions/s/artifacts/c/versions/0")
    )
    with pytest.raises(InputValidationError, match="more than 5"):
        await service.load_artifact(**WHERE, filename="c")
    for wrong in ("sessions/other/artifacts/a/versions/0", "nonsense"):
        with pytest.raises(InputValidationError):
            await service.save_artifact(**WHERE, filename="d", artifact=reference(wrong))


@pytest.mark.parametrize(
    "wrong",
    [
        {"session_id": None},
        {"session_id": "a/../b"},
        {"session_id": "user"},
        {"user_id": ".."},
        {"app_name": ""},
        {"artifact": types.Part()},
    ],
)
async def test_invalid_arguments_are_refused_and_nothing_is_saved(wrong: dict):
    service = InMemoryArtifactService()
    with pytest.raises(InputValidationError):
        await service.save_artifact(**{**WHERE, "filename": "a", "artifact": part("x"), **wrong})
    assert await service.list_artifact_keys(**WHERE) == []


async def test_an_empty_octet_stream_is_absent():
    service = InMemoryArtifactService()
    empty = types.Part(inline_data=types.Blob(data=b"", mime_type="application/octet-stream"))
    await service.save_artifact(**WHERE, filename="a", artifact=empty)
    assert await service.load_artifact(**WHERE, filename="a") is None


async def test_an_empty_csv_file_is_a_file():
    service = InMemoryArtifactService()
    table = types.Part.from_bytes(data=b"", mime_type="text/csv")
    await service.save_artifact(**WHERE, filename="empty.csv", artifact=table)
    assert await service.load_artifact(**WHERE, filename="empty.csv") == table


IDS = [
    *("team/ann", "team", "ann", "team/sessions/s/artifacts", "team/user", "team%2Fann"),
    *("team%2fann", "team%252Fann", "team\\ann", "team%5Cann", "spiffe://x/y", "spiffe:/x/y"),
]
"""Ids that could be confused with each other, or with a part of another's path."""


@pytest.mark.parametrize("which", ["app_name", "user_id", "session_id"])
@pytest.mark.parametrize("kind", [InMemoryArtifactService, FileArtifactService])
async def test_ids_with_slashes_have_separate_files(kind, which, tmp_path):
    service = kind(tmp_path) if kind is FileArtifactService else kind()
    places = [{**WHERE, which: each} for each in IDS]
    for place in places:
        await service.save_artifact(**place, filename="a", artifact=part(place[which]))
        await service.save_artifact(**place, filename=f"{place[which]}/b", artifact=part("b"))
    for place in places:
        assert await service.load_artifact(**place, filename="a") == part(place[which])
        names = await service.list_artifact_keys(**place)
        assert [name for name in names if name.endswith("/b")] == [f"{place[which]}/b"]
        await service.delete_artifact(**place, filename="a")
        assert await service.list_versions(**place, filename="a") == []
    assert {path.name for path in tmp_path.iterdir()} <= {"apps"}


async def test_a_reference_with_a_slash_in_the_user_id_is_followed():
    service, where = InMemoryArtifactService(), {**WHERE, "user_id": "team/ann"}
    await service.save_artifact(**where, filename="a", artifact=part("x"))
    for user, is_own in (("team/ann", True), ("team", False)):
        uri = f"artifact://apps/app/users/{user}/sessions/s/artifacts/a/versions/0"
        pointer = types.Part(file_data=types.FileData(file_uri=uri))
        if is_own:
            await service.save_artifact(**where, filename="b", artifact=pointer)
        else:
            with pytest.raises(InputValidationError):
                await service.save_artifact(**where, filename="b", artifact=pointer)
    assert await service.load_artifact(**where, filename="b") == part("x")
