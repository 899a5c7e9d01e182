"""Which folders are apps, and what their READMEs say (adk-web 2.2)."""

import os
from pathlib import Path

import pytest

from devui.debugger.apps.apps import AppFolder, UnknownApp

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


def test_a_readme_is_read_as_it_is_on_disk(tmp_path: Path) -> None:
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


def test_an_unchanged_readme_is_not_read_again(tmp_path: Path) -> None:
    path = folder_with(tmp_path, "a/agent.py")
    apps = AppFolder.at(path)
    (path / "a" / "README.md").write_text(PARAGRAPH, encoding="utf-8")
    assert apps.readme("a") is apps.readme("a")
    assert apps.about("a") is apps.about("a")


def test_without_a_readme_the_root_agents_description_says_what_an_app_does(tmp_path: Path):
    path = folder_with(tmp_path, "a/agent.py")
    apps = AppFolder.at(path)
    (path / "a" / "agent.py").write_text("root_agent = Agent(description='Plans trips.')")
    assert apps.about("a") == apps.source("a").about == "Plans trips."
    (path / "a" / "README.md").write_text(PARAGRAPH, encoding="utf-8")
    assert apps.about("a") == apps.source("a").about == "What it does, in short."
    assert apps.source("nowhere").root_agent is None


def test_folders_that_have_nothing_to_do_with_agents_are_named(tmp_path: Path) -> None:
    apps = AppFolder.at(
        folder_with(
            tmp_path,
            *("a/agent.py", "team/b/agent.py", "near/root_agent.yml", "my agent/agent.py"),
            *("docs/index.md", "data/x/y.csv", ".git/config", "__pycache__/x.pyc", "file.txt"),
        )
    )
    assert [each.name for each in apps.others(apps.names(), apps.left_out())] == ["data", "docs"]
    one = AppFolder.at(apps.path / "a")
    assert one.others(one.names(), one.left_out()) == []


NO_APPS = [
    *("", ".", "..", "/etc", "../outside", "a/../../outside", "%2e%2e", "a%2Fb", "%252e%252e"),
    *("a\\b", "..\\outside", "a\0", "a\0.py", "x" * 65, "\u0430", "\uff41", "a ", "a.", "a:stream"),
    *("\\\\host\\share", "../here2/a", "json", "os", "a/", "A", "con", "nul", "link", ".hidden"),
]


@pytest.mark.req("R22")
@pytest.mark.parametrize("name", NO_APPS)
def test_no_app_name_escapes_the_folder(tmp_path, monkeypatch, name):
    here = folder_with(tmp_path, "a/agent.py", ".hidden/agent.py", "../here2/a/agent.py")
    folder_with(tmp_path, "../outside/agent.py")
    (here / "link").symlink_to(tmp_path / "outside")
    apps, add_touch = AppFolder.at(here), []
    for module, function in ((os, "stat"), (os, "scandir"), (os, "listdir")):
        plain = getattr(module, function)

        def watched(path=".", *args, plain=plain, **more):
            add_touch.append(Path(os.fsdecode(path)))
            return plain(path, *args, **more)

        monkeypatch.setattr(module, function, watched)
    with pytest.raises(UnknownApp):
        apps.require(name)
    monkeypatch.undo()
    assert [path for path in add_touch if not path.is_relative_to(here) or ".." in path.parts] == []
