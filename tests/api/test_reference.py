"""The API's description of itself: `/openapi.json` and `/docs`."""

import re
import sys

import httpx2
import pytest

from devui.web.routes import apis, for_agents
from tests.api.test_openapi import references
from tests.kit.server import SAMPLES, running

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def schema(server):
    with server.client() as client:
        return client.get("/openapi.json").json()


def test_every_api_route_is_described(schema):
    """Except the Model Context Protocol, which describes itself."""
    routes = {
        (route.path_format, method.lower())
        for route in apis
        if route not in for_agents
        for method in route.methods - {"HEAD"}
    }
    operations = {(path, method) for path, methods in schema["paths"].items() for method in methods}
    assert operations == routes


def test_every_operation_has_a_summary_and_its_path_parameters(schema):
    ids = []
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            parameters = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
            assert parameters == set(re.findall(r"\{(\w+)\}", path)), path
            ids.append(operation.get("operationId", (method, path)))
    assert len(ids) == len(set(ids))


def test_bodies_have_schemas_and_every_reference_resolves(schema):
    schemas = schema["components"]["schemas"]
    assert {each.rpartition("/")[2] for each in references(schema)} <= schemas.keys()
    assert {"appName", "newMessage", "customMetadata"} <= schemas["RunBody"]["properties"].keys()


def test_the_page_lists_every_operation(client, schema):
    page = client.get("/docs", headers=HTML).text
    for path, methods in schema["paths"].items():
        for method in methods:
            assert f"<b>{method.upper()}</b> {path}</code>" in page


@pytest.mark.parametrize("path", ["/openapi.json", "/docs"])
def test_reading_the_description_needs_a_sign_in(server, path):
    assert httpx2.get(server.url + path, verify=False).status_code == 401


def test_llms_txt_omits_mcp_if_its_package_is_missing(tmp_path):
    # A module with this name that can't be imported hides an installed one.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['mcp'] = None\n", encoding="utf-8"
    )
    path = ":".join([str(tmp_path), *filter(None, sys.path)])
    with (
        running(SAMPLES, tmp_path / "data", fresh=True, PYTHONPATH=path) as server,
        server.client() as client,
    ):
        page = client.get("/llms.txt").text
    assert "](/mcp)" not in page
    assert "pip install 'devui[mcp]'" in page
