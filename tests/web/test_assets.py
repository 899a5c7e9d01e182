"""Templates and static files: found, addressed by content, and served."""

import os
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from devui.web.assets import AssetNotFound, Assets, AssetsMissing, VersionedFiles, find_folder


def make(folder: Path, text: str = "a {}") -> Path:
    (folder / "css").mkdir(parents=True)
    (folder / "css" / "base.css").write_text(text)
    return folder


def client(assets: Assets) -> TestClient:
    return TestClient(Starlette(routes=[Mount("/static", VersionedFiles(assets))]))


def test_the_package_comes_first_and_its_parent_second(tmp_path: Path) -> None:
    package = tmp_path / "devui"
    beside = make(tmp_path / "static")
    assert find_folder("static", "css/base.css", package) == beside
    inside = make(package / "static")
    assert find_folder("static", "css/base.css", package) == inside


def test_a_folder_of_somebody_else_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "static").mkdir()
    with pytest.raises(AssetsMissing, match="install devui again"):
        find_folder("static", "css/base.css", tmp_path / "devui")


def test_an_address_changes_with_the_content(tmp_path: Path) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    first = assets.url("css/base.css")
    assert first.startswith("/static/css/base.css?v=")
    assert assets.url("css/base.css") == first
    (assets.static / "css/base.css").write_text("b {}")
    os.utime(assets.static / "css/base.css", ns=(1, 1))
    assert assets.url("css/base.css") != first


def test_a_missing_file_is_an_error_and_not_a_dead_link(tmp_path: Path) -> None:
    with pytest.raises(AssetNotFound, match=r"no static file 'css/none\.css'"):
        Assets(tmp_path, make(tmp_path / "static")).url("css/none.css")


def test_a_file_asked_for_by_its_hash_may_be_kept_for_good(tmp_path: Path) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    asked = client(assets).get(assets.url("css/base.css"))
    assert asked.text == "a {}"
    assert asked.headers["cache-control"] == "public, max-age=31536000, immutable"
    for url in ("/static/css/base.css", "/static/css/base.css?v=old", "/static/css/base.css?v="):
        assert client(assets).get(url).headers["cache-control"] == "no-cache"


@pytest.mark.req("R25")
@pytest.mark.parametrize(
    "path",
    [
        *("../secret", "..%2fsecret", "%2e%2e/secret", "css/../../secret", "..\\secret"),
        *("/etc/passwd", "%2fetc%2fpasswd", "css", "css/", "", "css/base.css%00", "link/secret"),
        *("....//secret", "css/base.css.map", "css/none.css"),
    ],
)
def test_nothing_but_the_files_themselves_is_served(path: str, tmp_path: Path) -> None:
    assets = Assets(tmp_path, make(tmp_path / "static"))
    (tmp_path / "secret").write_text("secret")
    (assets.static / "link").symlink_to(tmp_path)
    answer = client(assets).get(f"/static/{path}", follow_redirects=False)
    assert answer.status_code == 404
    assert "secret" not in answer.text


def test_this_checkout_has_both_folders() -> None:
    found = Assets.find()
    assert (found.templates / "base.html").is_file()
    assert found.url("vendor/htmx.min.js")
