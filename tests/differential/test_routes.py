"""Compares the answers of `adk web` and devui to the same requests, route by route (adk-web 1)."""

import re

import pytest

from devui.web.openapi import document
from tests.differential.routes import (
    DIFFERENT,
    ON_OUR_ENGINE,
    REQUESTS,
    answers,
    exchange,
    write_apps,
)
from tests.kit.adk_web import adk_web
from tests.kit.oracle import adk_python, needs_adk
from tests.kit.schema_checks import check_answer
from tests.kit.server import running

pytestmark = [needs_adk, pytest.mark.xdist_group("routes")]


@pytest.fixture(scope="module")
def their_client(tmp_path_factory):
    with adk_web(write_apps(tmp_path_factory.mktemp("adk"))) as client:
        yield client


@pytest.fixture(scope="module")
def theirs(their_client):
    return answers(exchange(their_client))


@pytest.fixture(scope="module", params=["google-adk", "devui"])
def engine(request):
    return request.param


@pytest.fixture(scope="module")
def exchanged(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("devui")
    options = ["--engine", engine, "--python", str(adk_python())]
    with (
        running(write_apps(folder), folder / "data", *options) as server,
        server.client() as client,
    ):
        return list(exchange(client))


@pytest.fixture(scope="module")
def ours(exchanged):
    return answers(exchanged)


@pytest.mark.parametrize("name", [asked.name for asked in REQUESTS])
def test_only_the_listed_answers_differ(name, theirs, ours, engine):
    reason = DIFFERENT.get(name) or (engine == "devui" and ON_OUR_ENGINE.get(name))
    if reason:
        assert ours[name] != theirs[name], f"they are alike now: {reason}"
    else:
        assert ours[name] == theirs[name]


def test_answers_match_the_openapi_description(exchanged):
    for request, answer in exchanged:
        check_answer(request.method, request.path, answer)


def test_request_names_are_unique_and_differences_refer_to_them():
    names = [request.name for request in REQUESTS]
    assert len(set(names)) == len(names)
    assert {*DIFFERENT, *ON_OUR_ENGINE} <= set(names)


def test_devui_describes_every_route_of_adk_web(their_client):
    """Parameter names in paths may differ, and `/` is a page."""
    paths = document()["paths"]
    ours = [
        (re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), methods) for path, methods in paths.items()
    ]
    theirs = their_client.get("/openapi.json").json()["paths"]
    assert len(theirs) > 50
    lacking = [
        f"{method} {path}"
        for path, methods in theirs.items()
        for method in methods
        if path != "/"
        and not any(each.fullmatch(path) and method in own_methods for each, own_methods in ours)
    ]
    assert lacking == []
