"""Errors as JSON, as a page and as a notice."""

import logging
from html import escape

import pytest
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient

from devui.web.assets import Assets
from devui.web.error_pages import ErrorAnswers
from devui.web.errors import (
    BadRequest,
    Conflict,
    EdgeError,
    NotFound,
    TooLarge,
    Unavailable,
    Unprocessable,
    UnsupportedMedia,
)
from devui.web.render import Renderer

HOSTILE = "<script>alert('x')</script>\"&{{7*7}}"
BROWSER = {"accept": "text/html"}
HTMX = {"accept": "text/html", "hx-request": "true", "hx-request-type": "partial"}
FIELDS = [{"type": "int_parsing", "loc": ["body", "a", 0], "msg": "should be a number"}]


class Missing(LookupError):
    """An error of a lower layer."""


class Lost(Missing):
    """A more specific error of that layer."""


def client(error: Exception) -> TestClient:
    async def fail(request: Request) -> Response:
        raise error

    answers = ErrorAnswers(Renderer(Assets.find()), {Missing: NotFound})
    app = Starlette(
        routes=[Route("/page", fail), Route("/run", fail), Route("/apps/{a}/users/{u}", fail)],
        exception_handlers=answers.handlers(),
    )
    return TestClient(app, raise_server_exceptions=False)


KINDS: list[tuple[EdgeError, int]] = [
    (BadRequest(HOSTILE), 400),
    (NotFound(HOSTILE), 404),
    (Conflict(HOSTILE), 409),
    (TooLarge(100), 413),
    (UnsupportedMedia(HOSTILE), 415),
    (Unprocessable(HOSTILE), 422),
    (Unavailable(HOSTILE, retry_after=5), 503),
]


@pytest.mark.parametrize(("error", "status"), KINDS)
@pytest.mark.parametrize("path", ["/run", "/apps/a/users/b", "/page"])
def test_the_api_reports_errors_in_adks_format(error: EdgeError, status: int, path: str) -> None:
    accept = {} if path == "/page" else BROWSER
    response = client(error).get(path, headers=accept)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    assert response.json() == {"detail": error.detail}


@pytest.mark.req("R12")
@pytest.mark.parametrize(("error", "status"), KINDS)
def test_a_tab_gets_a_page(error: EdgeError, status: int) -> None:
    response = client(error).get("/page", headers=BROWSER)
    assert response.status_code == status
    assert response.text.startswith("<!doctype html>")
    assert "</html>" in response.text
    assert HOSTILE not in response.text
    text = str(error)[0].upper() + str(error)[1:]
    assert escape(text).replace("&quot;", "&#34;").replace("&#x27;", "&#39;") in response.text


@pytest.mark.req("R12")
@pytest.mark.parametrize(("error", "status"), KINDS)
def test_htmx_gets_a_notice_and_nothing_to_swap(error: EdgeError, status: int) -> None:
    response = client(error).get("/page", headers=HTMX)
    assert response.status_code == status
    assert response.text.startswith('<hx-partial hx-target="#notice"')
    assert response.text.strip().endswith("</hx-partial>")
    assert response.headers["hx-push-url"] == "false"
    assert HOSTILE not in response.text


def test_restoring_history_gets_the_whole_page() -> None:
    restored = {**HTMX, "hx-history-restore-request": "true"}
    response = client(NotFound("x")).get("/page", headers=restored)
    assert response.text.startswith("<!doctype html>")


def test_field_errors_are_a_list_in_json_and_text_on_a_page() -> None:
    error = Unprocessable(FIELDS)
    assert client(error).get("/run").json() == {"detail": FIELDS}
    assert "a.0: should be a number" in client(error).get("/page", headers=BROWSER).text


def test_the_headers_of_an_error_are_sent() -> None:
    error = Unavailable("busy", retry_after=7)
    for headers in ({}, BROWSER, HTMX):
        assert client(error).get("/page", headers=headers).headers["retry-after"] == "7"


def test_errors_of_lower_layers_and_their_subclasses_are_translated() -> None:
    for error in (Missing("no such thing"), Lost("no such thing")):
        response = client(error).get("/run")
        assert (response.status_code, response.json()) == (404, {"detail": "no such thing"})


@pytest.mark.req("R12")
@pytest.mark.parametrize("headers", [{}, BROWSER, HTMX])
def test_an_unknown_path_is_not_reflected(headers: dict[str, str]) -> None:
    response = client(NotFound("x")).get("/<script>alert(1)</script>?a=<b>", headers=headers)
    assert response.status_code == 404
    assert "alert(1)" not in response.text


def test_a_wrong_method_gets_a_list_of_allowed_ones() -> None:
    response = client(NotFound("x")).post("/page", headers=BROWSER)
    assert response.status_code == 405
    assert "GET" in response.headers["allow"]


@pytest.mark.req("R12")
@pytest.mark.parametrize(("path", "headers"), [("/page", BROWSER), ("/page", HTMX), ("/page", {})])
def test_an_unexpected_error_shows_the_logged_error_id(
    path: str, headers: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    error = RuntimeError(f"sesame {HOSTILE}")
    with caplog.at_level(logging.ERROR):
        response = client(error).get(path, headers=headers)
    assert response.status_code == 500
    assert "sesame" not in response.text
    error_id = caplog.messages[0].split()[2].rstrip(":")
    assert error_id in response.headers.get("x-error-id", "") + response.text
    assert f"error id {error_id}" in error.__notes__


def test_a_disconnect_while_sending_a_body_is_not_logged_as_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        assert client(ClientDisconnect()).get("/run").status_code == 400
    assert caplog.messages == []


def test_an_unexpected_error_in_the_api_is_plain_text_as_in_adk() -> None:
    response = client(RuntimeError("x")).get("/run")
    assert (response.status_code, response.text) == (500, "Internal Server Error")
