"""Artifacts in a folder (adk-runtime 10.1)."""

import asyncio
import json
import os
import threading

import pytest
from google.genai import types

from devui.runtime.artifacts import FileArtifactService
from devui.runtime.errors import InputValidationError
from tests.kit.oracle import needs_adk, run_adk

USER = {"app_name": "app", "user_id": "u"}
WHERE = {**USER, "session_id": "s"}
IMAGE = types.Part(inline_data=types.Blob(data=b"\x89", mime_type="image/png", display_name="D"))


@pytest.fixture
def service(tmp_path):
    return FileArtifactService(tmp_path)


def part(value: str) -> types.Part:
    return types.Part(text=value)


async def test_versions_count_from_zero_and_outlive_the_service(service, tmp_path):
    for number, text in enumerate(["x", "é\n", ""]):
        assert await service.save_artifact(**WHERE, filename="a", artifact=part(text)) == number
    service = FileArtifactService(str(tmp_path))
    assert await service.list_versions(**WHERE, filename="a") == [0, 1, 2]
    assert await service.load_artifact(**WHERE, filename="a") == part("")
    assert await service.load_artifact(**WHERE, filename="a", version=1) == part("é\n")
    for missing in (-1, 3):
        assert await service.load_artifact(**WHERE, filename="a", version=missing) is None
        assert await service.get_artifact_version(**WHERE, filename="a", version=missing) is None


async def test_inline_data_keeps_its_type_and_names(service):
    await service.save_artifact(
        **WHERE, filename="dir/b.png", artifact=IMAGE, custom_metadata={"k": 1}
    )
    assert await service.load_artifact(**WHERE, filename="dir/b.png") == IMAGE
    about = await service.get_artifact_version(**WHERE, filename="dir/b.png")
    assert (about.version, about.mime_type, about.custom_metadata) == (0, "image/png", {"k": 1})
    assert about.canonical_uri.endswith("/sessions/s/artifacts/dir/b.png/versions/0/b.png")
    assert await service.list_artifact_versions(**WHERE, filename="dir/b.png") == [about]


async def test_the_folder_layout_is_google_adks(service, tmp_path):
    await service.save_artifact(**WHERE, filename="dir/b.png", artifact=IMAGE)
    await service.save_artifact(**WHERE, filename="user:c", artifact=part("mine"))
    session = tmp_path / "apps/app/users/u/sessions/s/artifacts/dir/b.png/versions/0"
    assert (session / "b.png").read_bytes() == b"\x89"
    about = json.loads((session / "metadata.json").read_text())
    assert set(about) == {
        *("version", "canonicalUri", "customMetadata", "createTime"),
        *("mimeType", "fileName", "displayName"),
    }
    own = tmp_path / "apps/app/users/u/artifacts/c/versions/0"
    assert (own / "c").read_text() == "mine"
    assert "mimeType" not in json.loads((own / "metadata.json").read_text())


async def test_files_of_the_user_are_visible_in_every_session(service):
    await service.save_artifact(**WHERE, filename="b", artifact=part("mine"))
    await service.save_artifact(**WHERE, filename="user:a", artifact=part("ours"))
    await service.save_artifact(**USER, filename="c", artifact=part("without a session"))
    assert await service.list_artifact_keys(**WHERE) == ["b", "c", "user:a"]
    assert await service.list_artifact_keys(**USER, session_id="other") == ["c", "user:a"]
    assert await service.load_artifact(**USER, filename="user:a") == part("ours")
    assert await service.list_artifact_keys(app_name="app", user_id="v") == []


async def test_deleting_a_file_keeps_those_below_it(service, tmp_path):
    for name in ("doc", "doc/more"):
        await service.save_artifact(**WHERE, filename=name, artifact=part(name))
    for _ in range(2):
        await service.delete_artifact(**WHERE, filename="doc")
    assert await service.list_artifact_keys(**WHERE) == ["doc/more"]
    await service.delete_artifact(**WHERE, filename="doc/more")
    assert await service.list_versions(**WHERE, filename="doc/more") == []
    assert not any(path.name == "doc" for path in tmp_path.rglob("*"))


async def test_concurrent_saves_get_different_version_numbers(service):
    saves = [service.save_artifact(**WHERE, filename="a", artifact=part(str(n))) for n in range(20)]
    assert sorted(await asyncio.gather(*saves)) == list(range(20))


async def test_an_interrupted_save_is_not_visible(service, tmp_path):
    await service.save_artifact(**WHERE, filename="a", artifact=part("x"))
    [versions] = tmp_path.rglob("versions")
    (versions / ".1.pending").mkdir()
    assert await service.list_versions(**WHERE, filename="a") == [0]
    assert await service.save_artifact(**WHERE, filename="a", artifact=part("y")) == 2


async def test_leftovers_of_dead_processes_are_removed_but_not_saves_in_progress(service, tmp_path):
    await service.save_artifact(**WHERE, filename="a", artifact=part("x"))
    versions = next(tmp_path.rglob("versions"))
    dead, alive, slow = (versions / f".{n}.pending" for n in (1, 2, 3))
    for pending in (dead, alive, slow):
        pending.mkdir()
        (pending / "payload").write_bytes(b"half")
    for path in (dead / "payload", dead, slow):
        os.utime(path, times=(0, 0))
    await service.save_artifact(**WHERE, filename="a", artifact=part("x"))
    assert [path.exists() for path in (dead, alive, slow)] == [False, True, True]


async def test_a_file_with_damaged_metadata_is_still_loaded(service, tmp_path):
    await service.save_artifact(**WHERE, filename="a", artifact=part("x"))
    [metadata] = tmp_path.rglob("metadata.json")
    metadata.write_text("{")
    assert await service.load_artifact(**WHERE, filename="a") == part("x")
    assert await service.list_artifact_keys(**WHERE) == ["a"]
    assert (await service.get_artifact_version(**WHERE, filename="a")).version == 0


@pytest.mark.parametrize(
    "wrong",
    [
        *({"filename": name} for name in ("../x", "/x", "C:\\x", "C:x", "user:../x", "a\\..\\b")),
        *({"filename": name} for name in ("", "user:", ".", "x/versions/1", "Metadata.json", "\0")),
        *({"session_id": name} for name in ("..", "a/../b", "")),
        {"user_id": "\\b"},
        {"app_name": "."},
        {"artifact": types.Part()},
        {"artifact": types.Part(file_data=types.FileData(file_uri="gs://b/x"))},
    ],
)
async def test_invalid_names_and_artifacts_are_refused(service, tmp_path, wrong):
    with pytest.raises(InputValidationError):
        await service.save_artifact(**{**WHERE, "filename": "a", "artifact": part("x"), **wrong})
    assert list(tmp_path.iterdir()) == []


async def test_a_symlink_cannot_lead_out_of_the_folder(service, tmp_path):
    await service.save_artifact(**WHERE, filename="a", artifact=part("x"))
    (tmp_path / "apps/app/users/u/sessions/s/artifacts/link").symlink_to("/")
    with pytest.raises(InputValidationError, match="resolves outside"):
        await service.load_artifact(**WHERE, filename="link/etc")


async def test_paths_are_resolved_in_a_thread(service):
    class CountedEvent(type(service.root_dir)):
        def resolve(self, strict=False):
            threads.add(threading.current_thread())
            return super().resolve(strict)

    threads: set[threading.Thread] = set()
    service.root_dir = CountedEvent(service.root_dir)
    await service.save_artifact(**WHERE, filename="a", artifact=part("x"))
    assert await service.load_artifact(**WHERE, filename="a") == part("x")
    assert await service.list_versions(**WHERE, filename="a") == [0]
    assert len(await service.list_artifact_versions(**WHERE, filename="a")) == 1
    assert await service.get_artifact_version(**WHERE, filename="a")
    await service.delete_artifact(**WHERE, filename="a")
    assert threads
    assert threading.main_thread() not in threads


@needs_adk
async def test_google_adk_reads_and_writes_the_same_folder(service, tmp_path):
    await service.save_artifact(**WHERE, filename="dir/b.png", artifact=IMAGE)
    await service.save_artifact(**WHERE, filename="user:c", artifact=part("ours"))
    keys = run_adk(
        """
        from google.adk.artifacts import FileArtifactService
        from google.genai import types
        service = FileArtifactService(args[0])
        where = dict(app_name="app", user_id="u", session_id="s")
        image = await service.load_artifact(**where, filename="dir/b.png")
        text = await service.load_artifact(**where, filename="user:c")
        print(await service.list_artifact_keys(**where))
        print(image.inline_data.mime_type, image.inline_data.display_name, text.text)
        part = types.Part(text="theirs")
        await service.save_artifact(**where, filename="user:c", artifact=part)
        """,
        tmp_path,
    )
    assert keys == "['dir/b.png', 'user:c']\nimage/png D ours\n"
    assert await service.load_artifact(**WHERE, filename="user:c") == part("theirs")
    assert await service.list_versions(**WHERE, filename="user:c") == [0, 1]
