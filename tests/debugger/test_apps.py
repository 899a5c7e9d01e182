"""Which folder is an app, and what its README says (adk-web 2.2)."""

from pathlib import Path

import pytest

from devui.debugger.apps import AppFolder

PARAGRAPH = "# Title\n\nWhat it *does*,\nin short.\n\nMore.\n"


def folder_with(tmp_path: Path, *files: str) -> Path:
    for name in files:
        file = tmp_path / "here" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("", encoding="utf-8")
    return tmp_path / "here"


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["agent.py"], ["here"]),
        (["__init__.py"], ["here"]),
        (["agent/__init__.py"], ["here"]),
        (["__init__.py", "tools/__init__.py"], ["here"]),
        (["agent.py", "flights/agent.py"], ["here"]),
        (["a/agent.py", "b/__init__.py"], ["a", "b"]),
        (["__init__.py", "a/agent.py", "b/__init__.py"], ["a", "b"]),
        (["agent/agent.py", "agent/__init__.py"], ["agent"]),
    ],
)
def test_a_folder_is_one_app_or_holds_apps(tmp_path: Path, files: list[str], names: list[str]):
    assert AppFolder.at(folder_with(tmp_path, *files)).names() == names


def test_a_readme_is_told_as_it_is_on_the_disk(tmp_path: Path) -> None:
    path = folder_with(tmp_path, "a/agent.py")
    apps = AppFolder.at(path)
    assert apps.about("a") == apps.readme("a") == ""
    readme = path / "a" / "README.md"
    readme.write_text(PARAGRAPH, encoding="utf-8")
    assert (apps.readme("a"), apps.about("a")) == (PARAGRAPH, "What it does, in short.")
    readme.write_text(PARAGRAPH.replace("short", "brief, then"), encoding="utf-8")
    assert apps.about("a") == "What it does, in brief, then."
    readme.unlink()
    readme.mkdir()
    assert apps.readme("a") == ""


def test_a_readme_that_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    path = folder_with(tmp_path, "a/agent.py")
    apps = AppFolder.at(path)
    (path / "a" / "README.md").write_text(PARAGRAPH, encoding="utf-8")
    assert apps.readme("a") is apps.readme("a")
    assert apps.about("a") is apps.about("a")
