"""Rendering models as HTML."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
from jinja2 import Environment, UndefinedError

from devui.web.assets import Assets, find_folder
from devui.web.render import Renderer

HOSTILE = "</p><script>alert('x')</script>\"{{7*7}}"


@dataclass(frozen=True)
class Row:
    template: ClassVar[str] = "row.txt"

    text: str


@dataclass(frozen=True)
class Rows:
    template: ClassVar[str] = "rows.html"

    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Wrong:
    template: ClassVar[str] = "wrong.html"

    text: str


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of compiled templates."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "cache"


@pytest.fixture
def renderer(tmp_path: Path) -> Renderer:
    (tmp_path / "row.txt").write_text('<p title="{{ text }}">{{ text }}</p>')
    (tmp_path / "rows.html").write_text("{% for row in rows %}{{ part(row) }}{% endfor %}")
    (tmp_path / "wrong.html").write_text("{{ text }}{{ missing }}")
    return Renderer(Assets(tmp_path, find_folder("static", "css/base.css")))


@pytest.mark.req("R17")
def test_every_template_escapes_whatever_its_extension(renderer: Renderer) -> None:
    html = renderer.part(Row(HOSTILE))
    assert "<script" not in html
    assert '"{{' not in html
    assert "{{7*7}}" in html


def test_a_part_renders_the_same_inside_another(renderer: Renderer) -> None:
    rows = (Row("a"), Row("<b>"))
    assert renderer.part(Rows(rows)) == renderer.parts(rows)
    assert renderer.parts(rows) == renderer.part(rows[0]) + renderer.part(rows[1])
    assert "&lt;b&gt;" in renderer.parts(rows)


def test_compiled_templates_are_cached_until_they_change(
    renderer: Renderer, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = renderer.part(Row("a"))
    [file] = [path for path in cache.rglob("*") if path.is_file()]
    with monkeypatch.context() as patch:
        patch.setattr(Environment, "compile", None)
        assert Renderer(renderer.assets).part(Row("a")) == expected
    (renderer.assets.templates / "row.txt").write_text("{{ text }}!")
    assert Renderer(renderer.assets).part(Row("a")) == "a!"
    whole = file.read_bytes()
    for size in (len(whole) - 20, 30, 20, 0):
        file.write_bytes(whole[:size])
        assert Renderer(renderer.assets).part(Row("a")) == "a!"


def test_templates_are_compiled_if_the_cache_is_unusable(renderer: Renderer, cache: Path) -> None:
    cache.write_text("not a folder")
    assert "<p" in renderer.part(Row("a"))


def test_an_unknown_variable_is_an_error(renderer: Renderer) -> None:
    with pytest.raises(UndefinedError, match="missing"):
        renderer.part(Wrong("x"))


def test_a_page_is_a_response(renderer: Renderer) -> None:
    response = renderer.page(Row("a"), status=404, headers={"HX-Push-Url": "false"})
    assert response.status_code == 404
    assert response.media_type == "text/html"
    assert response.headers["hx-push-url"] == "false"
    assert response.body == b'<p title="a">a</p>'
