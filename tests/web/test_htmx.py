"""The headers of htmx, and the names in its source that we rely on."""

import json
import re
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from devui.web import htmx
from devui.web.htmx import CONFIG, CONFIG_JSON, HtmxRequest

ROOT = Path(__file__).parent.parent.parent
SOURCE = (ROOT / "static/vendor/htmx.min.js").read_text()
EXTENSION = (ROOT / "static/vendor/hx-sse.min.js").read_text()


def test_a_request_from_htmx_is_recognized() -> None:
    headers = {
        "HX-Request": "true",
        "HX-Request-Type": "partial",
        "HX-Source": "button#go",
        "HX-Target": "div#rows",
        "HX-Current-URL": "http://localhost:8000/",
    }
    request = HtmxRequest.read(Headers(headers))
    assert request
    assert request.partial
    assert (request.source, request.target) == ("button#go", "div#rows")
    assert request.current_url == "http://localhost:8000/"
    assert not request.boosted
    assert not request.restores


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "1"}, {"HX-Request-Type": "partial"}])
def test_other_requests_are_not_mistaken_for_htmx(headers: dict[str, str]) -> None:
    assert not HtmxRequest.read(Headers(headers))


def test_restoring_history_is_recognized_without_the_request_header() -> None:
    assert HtmxRequest.read(Headers({"HX-History-Restore-Request": "true"})).restores


@pytest.mark.parametrize(
    "name", ["HX-Request", "HX-Request-Type", "HX-Source", "HX-Current-URL", "HX-Boosted"]
)
def test_the_request_headers_are_those_of_the_vendored_source(name: str) -> None:
    assert name in SOURCE


@pytest.mark.parametrize(
    "headers",
    [
        *(htmx.push_url("/a"), htmx.keep_url(), htmx.redirect("/a")),
        *(htmx.refresh(), htmx.retarget("#a", "innerHTML"), htmx.trigger({"a": 1})),
    ],
    ids=str,
)
def test_the_response_headers_are_read_by_the_vendored_source(headers: dict[str, str]) -> None:
    for name in headers:
        read = name.removeprefix("HX-").lower().replace("-", "")
        assert re.search(rf"\.{read}\b", SOURCE), name


def test_response_headers_carry_the_given_values() -> None:
    assert htmx.retarget("#a") == {"HX-Retarget": "#a"}
    assert htmx.retarget("#a", "none") == {"HX-Retarget": "#a", "HX-Reswap": "none"}
    assert json.loads(htmx.trigger({"saved": {"n": 1}})["HX-Trigger"]) == {"saved": {"n": 1}}


@pytest.mark.req("R14")
def test_the_configuration_is_locked_down() -> None:
    assert json.loads(CONFIG_JSON) == CONFIG
    assert CONFIG["mode"] == "same-origin"
    assert CONFIG["includeIndicatorCSS"] is False
    assert CONFIG["implicitInheritance"] is False
    assert CONFIG["extensions"] == "sse"
    assert CONFIG["prefix"] == ""
    assert "inlineScriptNonce" not in CONFIG
    assert {"4xx", "5xx"} <= set(CONFIG["noSwap"])


@pytest.mark.req("R14")
@pytest.mark.parametrize("key", sorted(CONFIG))
def test_the_vendored_source_reads_every_configured_key(key: str) -> None:
    where = EXTENSION if key == "sse" else SOURCE
    assert re.search(rf"config\.{key}\b", where)


def test_the_vendored_source_is_the_reviewed_version() -> None:
    assert 'this.version="4.0.1"' in SOURCE
