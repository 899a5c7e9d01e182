"""Templates and static files: how they are found, addressed by content, and served."""

import base64
from hashlib import sha256
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


def test_a_folder_is_looked_up_in_the_package_and_then_beside_it(tmp_path: Path) -> None:
    package = tmp_path / "devui"
    beside = make(tmp_path / "static")
    assert find_folder("static", "css/base.css", package) == beside
    inside = make(package / "static")
    assert find_folder("static", "css/base.css", package) == inside


def test_an_unrelated_folder_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "static").mkdir()
    with pytest.raises(AssetsMissing, match="reinstall devui"):
        find_folder("static", "css/base.css", tmp_path / "devui")


def test_every_url_changes_when_any_file_changes(tmp_path: Path) -> None:
    first = Assets(tmp_path, make(tmp_path / "static"))
    assert first.url("css/base.css") == f"/static/{first.version}/css/base.css"
    again = Assets(tmp_path, tmp_path / "static")
    assert again.url("css/base.css") == first.url("css/base.css")
    (tmp_path / "static/js/a.js").write_text("export const a = 2;\n")
    assert Assets(tmp_path, tmp_path / "static").url("css/base.css") != first.url("css/base.css")


def test_a_server_keeps_the_files_it_started_with(tmp_path: Path) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    (tmp_path / "static/css/base.css").write_text("a { color: red }")
    assert client(assets).get(assets.url("css/base.css")).text == "a {}"


def test_style_sheets_are_joined_in_the_given_order(tmp_path: Path) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    answer = client(assets).get(assets.styles("chat", "base"))
    assert answer.text == "b {}\na {}"
    assert answer.headers["content-type"] == "text/css; charset=utf-8"


def test_a_module_is_served_with_everything_it_imports(tmp_path: Path) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    whole = client(assets).get(assets.url("js/page.js")).text
    assert whole.count("const b = 1;") == 1, "a module that two others import comes once"
    assert "import" not in whole
    assert "export" not in whole


def test_a_page_for_a_frame_has_its_scripts_in_it_and_no_other_may_run(tmp_path: Path) -> None:
    static = make(tmp_path / "static")
    (static / "frames").mkdir()
    (static / "frames" / "page.html").write_text('<script src="../js/a.js"></script><p>')
    (static / "frames" / "bad.html").write_text('<script src="none.js"></script>')
    (static / "js" / "a.js").write_text("go()")
    assets = Assets(tmp_path, static)
    response = client(assets).get(assets.url("frames/page.html"))
    assert response.text == "<script>go()</script><p>"
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    hashed = base64.b64encode(sha256(b"go()").digest()).decode()
    assert f"script-src 'sha256-{hashed}';" in response.headers["content-security-policy"]
    with pytest.raises(AssetNotFound, match=r"no static file 'frames/none\.js'"):
        assets.read("frames/bad.html")


def test_a_missing_file_is_an_error_instead_of_a_dead_link(tmp_path: Path) -> None:
    with pytest.raises(AssetNotFound, match=r"no static file 'css/none\.css'"):
        Assets(tmp_path, make(tmp_path / "static")).url("css/none.css")


def test_a_module_with_a_missing_import_is_an_error(tmp_path: Path) -> None:
    static = make(tmp_path / "static")
    (static / "js" / "a.js").write_text('import * as c from "./c.js";\n')
    with pytest.raises(
        AssetNotFound, match=r"no static file 'js/c\.js', which js/page\.js imports"
    ):
        Assets(tmp_path, static).read("js/page.js")


def test_a_file_of_this_version_may_be_cached_forever(tmp_path: Path) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    response = client(assets).get(assets.url("css/base.css"))
    assert response.text == "a {}"
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize(
    ("accepts", "encoding"),
    [("br, gzip, deflate", "gzip"), ("GZIP;q=1.0", "gzip"), ("gzip;q=0", None), ("br", None)],
)
def test_a_file_is_compressed_if_the_client_accepts_gzip(tmp_path: Path, accepts, encoding) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    headers = {"Accept-Encoding": accepts}
    response = client(assets).get(assets.styles("base", "chat"), headers=headers)
    assert response.headers.get("content-encoding") == encoding
    assert response.content == assets.read("css/base+chat.css")
    assert response.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("version", ["", "0123456789abcdef/"])
def test_a_url_of_another_version_redirects_to_this_one(tmp_path: Path, version: str) -> None:
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
def test_only_the_static_files_are_served(path: str, tmp_path: Path) -> None:
    static = make(tmp_path / "static")
    (tmp_path / "secret").write_text("secret")
    (static / "link").symlink_to(tmp_path)
    (static / "linked").symlink_to(tmp_path / "secret")
    assets = Assets(tmp_path, static)
    for version in ("", "0123456789abcdef/", f"{assets.version}/"):
        answer = client(assets).get(f"/static/{version}{path}")
        assert answer.status_code == 404
        assert "secret" not in answer.text


def test_this_checkout_has_templates_and_static_files() -> None:
    assets = Assets.find()
    assert (assets.templates / "base.html").is_file()
    assert assets.url("vendor/htmx.min.js")
