"""An engine is chosen on an app's page, kept, and taken back."""

import shutil

import pytest

from tests.engines.conftest import PROJECTS
from tests.kit.oracle import adk_python, needs_adk
from tests.kit.server import make_session, run, running

pytestmark = needs_adk
HTML = {"Accept": "text/html"}


def post(server, path, **form):
    """Send a form as a page of the server does."""
    with server.client() as client:
        return client.post(path, data=form, headers={"Origin": server.url, **HTML})


def runs_on(client, app):
    page = client.get(f"/apps/{app}", headers=HTML).text
    return page.split("Runs on <b>", 1)[1].split("<", 1)[0].split()[0]


def test_an_engine_that_is_chosen_on_the_page_outlives_the_server(tmp_path):
    shutil.copytree(PROJECTS, tmp_path / "agents")
    options = (tmp_path / "agents", tmp_path / "data", "--python", str(adk_python()))
    with running(*options) as server, server.client() as client:
        session = make_session(client, "weather")["id"]
        for engine, name in (("", "google-adk"), ("devui", "devui")):
            answer = post(server, "/apps/weather/engine", engine=engine)
            assert answer.status_code == 303
            assert answer.headers["location"] == "/apps/weather"
            assert runs_on(client, "weather") == name
            frames = run(client, "weather", session, "What is the weather in Oslo?")
            assert "sunny in Oslo" in str(frames[-1])
    with running(*options) as server, server.client() as client:
        client.post("/apps/weather/reload")
        client.post("/apps/expenses/reload")
        assert runs_on(client, "weather") == "devui"
        assert "You chose devui" in client.get("/apps/weather", headers=HTML).text
        assert runs_on(client, "expenses") == "google-adk"
        post(server, "/apps/weather/engine", engine="")
        assert runs_on(client, "weather") == "google-adk"


@pytest.mark.parametrize(("app", "status"), [("weather", 422), ("nobody", 404)])
def test_what_is_no_engine_or_no_app_is_refused(tmp_path, app, status):
    shutil.copytree(PROJECTS, tmp_path / "agents")
    with running(tmp_path / "agents", tmp_path / "data") as server:
        answer = post(server, f"/apps/{app}/engine", engine="other")
        assert answer.status_code == status


def test_the_session_page_says_what_its_app_runs_on(tmp_path):
    shutil.copytree(PROJECTS, tmp_path / "agents")
    options = (tmp_path / "agents", tmp_path / "data", "--python", str(adk_python()))
    with running(*options) as server, server.client() as client:
        client.post("/apps/weather/reload")
        answer = post(server, "/apps/weather/sessions", title="mine")
        page = client.get(answer.headers["location"], headers=HTML).text
    assert 'id="on-engine">google-adk 2.' in page
    assert "runs on google-adk itself" in page
    assert 'href="/apps/weather#engine"' in page
