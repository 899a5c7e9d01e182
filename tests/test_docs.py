"""The documentation is true: every route, every option, every link, every example."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from starlette.routing import BaseRoute, Mount, Route

import devui
from devui.cli import main
from devui.web.routes import routes
from tests.source import ROOT, line_of

README = ROOT / "README.md"
GUIDE = ROOT / "docs" / "guide"
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "agents").rglob("*.md")]
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ENDPOINT = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) (/[^\s`?]*)[^`]*`")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks(path: Path, *languages: str) -> Iterator[tuple[int, str]]:
    """Yield the line and text of every fenced block in one of these languages."""
    text = path.read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        if fence[1] in languages:
            yield line_of(text, fence.start(2)), fence[2]


def test_the_readme_fits_on_two_screens() -> None:
    lines = len(README.read_text(encoding="utf-8").splitlines())
    assert lines <= 120, f"README.md has {lines} lines; move the rest to docs/guide"


def test_the_readme_starts_with_the_two_scripts() -> None:
    commands = [
        line.removeprefix("$ ")
        for _, block in blocks(README, "sh", "bash", "console", "shell")
        for line in block.splitlines()
        if line.strip() and not line.startswith("#")
    ]
    first = [command.split()[0] for command in commands[:2]]
    assert first == ["scripts/run", "scripts/test"]


def test_the_readme_shows_pictures_that_exist() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert pictures, "README.md shows no screenshot"
    assert [name for name in pictures if not (ROOT / name).is_file()] == []


def test_every_picture_of_the_guide_is_drawn_by_a_test_and_shown() -> None:
    files = {path.name for path in (GUIDE / "pictures").iterdir()}
    pages = "\n".join(page.read_text(encoding="utf-8") for page in GUIDE.glob("*.md"))
    walk = (ROOT / "tests" / "browser" / "test_guide.py").read_text(encoding="utf-8")
    assert files == set(re.findall(r"!\[[^\]]+\]\(pictures/([^)]+)\)", pages))
    assert files == {f"{name}.png" for name in re.findall(r"picture\(\w+, \"([^\"]+)\"\)", walk)}


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_python_examples_compile(path: Path) -> None:
    for line, code in blocks(path, "python", "py"):
        padded = "\n" * (line - 1) + code
        compile(padded, relative(path), "exec", dont_inherit=True)


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_relative_links_resolve(path: Path) -> None:
    text = FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), path.read_text(encoding="utf-8"))
    dead = []
    for link in re.finditer(r"\]\(([^)\s]+)\)|\b(?:src|href)=\"([^\"]+)\"", text):
        target = link[1] or link[2]
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = path.parent / name if name else path
        is_dead = not file.exists() or (anchor and anchor not in anchors(file))
        if is_dead:
            dead.append(f"{relative(path)}:{line_of(text, link.start())}: {target}")
    assert not dead, "\n" + "\n".join(dead)


def test_the_glossary_names_existing_code() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    places = re.findall(r"`([a-z_]+/[\w/]*(?:\.py)?)(?:: (\w+))?`", page)
    assert len(places) > 40
    absent = [
        f"{name}: {symbol}" if symbol else name
        for name, symbol in places
        if (not (ROOT / "devui" / name).exists() and not (ROOT / name).exists())
        or (
            symbol
            and not re.search(
                rf"^(?:class|def) {symbol}\b",
                (ROOT / "devui" / name).read_text(encoding="utf-8"),
                re.MULTILINE,
            )
        )
    ]
    assert absent == []


def endpoints(table: list[BaseRoute], prefix: str = "") -> Iterator[str]:
    """Yield `METHOD /path` of every route, without the types of its parameters."""
    for route in table:
        if isinstance(route, Mount):
            inner = list(route.routes or [])
            yield from endpoints(inner, prefix + route.path)
            if not inner:
                yield f"GET {prefix}{route.path}/{{path}}"
        elif isinstance(route, Route):
            path = re.sub(r":\w+\}", "}", prefix + route.path)
            yield from (f"{method} {path}" for method in (route.methods or set()) - {"HEAD"})


def test_every_route_is_documented_and_nothing_else() -> None:
    page = (GUIDE / "api.md").read_text(encoding="utf-8")
    documented = {f"{method} {path}" for method, path in ENDPOINT.findall(page)}
    routes_there = set(endpoints(list(routes)))
    assert routes_there - documented == set(), "docs/guide/api.md does not name these"
    assert documented - routes_there == set(), "docs/guide/api.md names these, which are not served"


def test_every_extra_is_explained() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = set(project["optional-dependencies"]) - {"dev"}
    page = (GUIDE / "runtime.md").read_text(encoding="utf-8")
    table = page.partition("## Extras")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == extras


def options(command: click.Command) -> Iterator[str]:
    """Yield the long names of a command's options, including those of its subcommands."""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.hidden:
            yield from (name for name in parameter.opts if name.startswith("--"))
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None, name
            yield from options(inner)


def test_every_option_is_documented() -> None:
    pages = [README, *GUIDE.glob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    missing = {name for name in options(main) if not re.search(rf"{re.escape(name)}\b", text)}
    assert missing == set(), "name these in README.md or docs/guide"


def test_the_changelog_has_an_entry_for_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = rf"^## \[?{re.escape(devui.__version__)}\]?\b"
    assert re.search(heading, changelog, re.MULTILINE), f"no entry for {devui.__version__}"


@pytest.mark.parametrize("script", ["run", "test", "check", "fix", "bench", "describe", "nightly"])
def test_every_script_is_explained(script: str) -> None:
    pages = [README, ROOT / "CONTRIBUTING.md"]
    assert any(f"scripts/{script}" in page.read_text(encoding="utf-8") for page in pages)
