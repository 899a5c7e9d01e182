"""Templates and static files: found, addressed by content, and served."""

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from devui.web.assets import (
    STATIC_PATH,
    AssetNotFound,
    Assets,
    AssetsMissing,
    StaticFiles,
    find_folder,
)


def make(folder: Path, text: str = "a {}") -> Path:
    (folder / "css").mkdir(parents=True)
    (folder / "css" / "base.css").write_text(text)
    (folder / "css" / "chat.css").write_text("b {}")
    (folder / "js" / "deep").mkdir(parents=True)
    (folder / "js" / "page.js").write_text('import { a } from "./a.js";\nimport "./deep/b.js";\n')
    (folder / "js" / "a.js").write_text('import * as b from "./deep/b.js";\n')
    (folder / "js" / "deep" / "b.js").write_text("export const b = 1;\n")
    return folder


def client(assets: Assets) -> TestClient:
    route = Route(STATIC_PATH, StaticFiles(assets).show, methods=["GET"])
    return TestClient(Starlette(routes=[route]), follow_redirects=False)


def test_the_package_comes_first_and_its_parent_second(tmp_path: Path) -> None:
    package = tmp_path / "devui"
    beside = make(tmp_path / "static")
    assert find_folder("static", "css/base.css", package) == beside
    inside = make(package / "static")
    assert find_folder("static", "css/base.css", package) == inside


def test_a_folder_of_somebody_else_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "static").mkdir()
    with pytest.raises(AssetsMissing, match="reinstall devui"):
        find_folder("static", "css/base.css", tmp_path / "devui")


def test_every_address_changes_when_any_file_does(tmp_path: Path) -> None:
    first = Assets(tmp_path, make(tmp_path / "static"))
    assert first.url("css/base.css") == f"/static/{first.version}/css/base.css"
    again = Assets(tmp_path, tmp_path / "static")
    assert again.url("css/base.css") == first.url("css/base.css")
    (tmp_path / "static/js/a.js").write_text("export const a = 2;\n")
    assert Assets(tmp_path, tmp_path / "static").url("css/base.css") != first.url("css/base.css")


def test_a_server_goes_on_with_the_files_it_was_started_with(tmp_path: Path) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    (tmp_path / "static/css/base.css").write_text("a { color: red }")
    assert client(assets).get(assets.url("css/base.css")).text == "a {}"


def test_style_sheets_come_as_one_in_their_order(tmp_path: Path) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    answer = client(assets).get(assets.styles("chat", "base"))
    assert answer.text == "b {}\na {}"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"


def test_a_module_comes_with_all_that_it_imports(tmp_path: Path) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    whole = client(assets).get(assets.url("js/page.js")).text
    assert whole.count("const b = 1;") == 1, "a module that two others import comes once"
    assert "import" not in whole
    assert "export" not in whole


def test_a_missing_file_is_an_error_and_not_a_dead_link(tmp_path: Path) -> None:
    with pytest.raises(AssetNotFound, match=r"no static file 'css/none\.css'"):
        Assets(tmp_path, make(tmp_path / "static")).url("css/none.css")


def test_a_module_that_imports_what_is_missing_is_an_error(tmp_path: Path) -> None:
    static = make(tmp_path / "static")
    (static / "js" / "a.js").write_text('import * as c from "./c.js";\n')
    with pytest.raises(
        AssetNotFound, match=r"no static file 'js/c\.js', which js/page\.js imports"
    ):
        Assets(tmp_path, static).read("js/page.js")


def test_a_file_of_this_version_may_be_kept_for_good(tmp_path: Path) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    response = client(assets).get(assets.url("css/base.css"))
    assert response.text == "a {}"
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    ("accepts", "encoding"),
    [("br, gzip, deflate", "gzip"), ("GZIP;q=1.0", "gzip"), ("gzip;q=0", None), ("br", None)],
)
def test_a_file_is_compressed_for_those_who_take_that(tmp_path: Path, accepts, encoding) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    headers = {"Accept-Encoding": accepts}
    response = client(assets).get(assets.styles("base", "chat"), headers=headers)
    assert response.headers.get("content-encoding") == encoding
    assert response.content == assets.read("css/base+chat.css")
    assert response.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("version", ["", "0123456789abcdef/"])
def test_an_address_of_another_version_leads_to_this_one(tmp_path: Path, version: str) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    answer = client(assets).get(f"/static/{version}css/base+chat.css")
    assert answer.status_code == 307
    assert answer.headers["location"] == assets.styles("base", "chat")
    assert "cache-control" not in answer.headers  # the guard adds no-store


@pytest.mark.req("R25")
@pytest.mark.parametrize(
    "path",
    [
        *("../secret", "..%2fsecret", "%2e%2e/secret", "css/../../secret", "..\\secret"),
        *("/etc/passwd", "%2fetc%2fpasswd", "css", "css/", "", "css/base.css%00", "link/secret"),
        *("....//secret", "css/base.css.map", "css/none.css", "css/base+base.css"),
        *("css/+.css", "css/+", "+", "css/base.css+chat.css", "/css/base.css", "linked"),
    ],
)
def test_nothing_but_the_files_themselves_is_served(path: str, tmp_path: Path) -> None:
    static = make(tmp_path / "static")
    (tmp_path / "secret").write_text("secret")
    (static / "link").symlink_to(tmp_path)
    (static / "linked").symlink_to(tmp_path / "secret")
    assets = Assets(tmp_path, static)
    for version in ("", "0123456789abcdef/", f"{assets.version}/"):
        answer = client(assets).get(f"/static/{version}{path}")
        assert answer.status_code == 404
        assert "secret" not in answer.text


def test_this_checkout_has_both_folders() -> None:
    assets = Assets.find()
    assert (assets.templates / "base.html").is_file()
    assert assets.url("vendor/htmx.min.js")
