"""An engine is chosen on an app's page, stored, and reset."""

import html
import re
import shutil

import pytest

from tests.engines.conftest import PROJECTS
from tests.kit.oracle import adk_python, needs_adk, run_adk
from tests.kit.server import make_session, run, running, write_app

pytestmark = needs_adk
HTML = {"Accept": "text/html"}


def post(server, path, **form):
    """Send a form as a page of the server does."""
    with server.client() as client:
        return client.post(path, data=form, headers={"Origin": server.url, **HTML})


def runs_on(client, app):
    page = client.get(f"/apps/{app}", headers=HTML).text
    return page.split("Engine: <b>", 1)[1].split("<", 1)[0].split()[0]


def test_an_engine_chosen_on_the_page_survives_a_restart(tmp_path):
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


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("from google.adk.workflow import NoSuchThing", "`NoSuchThing` in `google.adk.workflow`"),
        ("import google.adk.nowhere", "module `google.adk.nowhere`"),
    ],
)
def test_a_failed_import_names_the_google_adk_that_lacks_the_name(tmp_path, line, missing):
    write_app(tmp_path / "agents", "newer", line)
    options = (tmp_path / "agents", tmp_path / "data", "--python", str(adk_python()))
    with running(*options) as server, server.client() as client:
        version = run_adk("import google.adk; print(google.adk.__version__)").strip()
        client.post("/apps/newer/reload")
        for path in ("/", "/apps/newer"):
            text = re.sub(r"</?code>", "`", client.get(path, headers=HTML).text)
            page = html.unescape(text)
            assert f"google-adk {version} has no {missing}. The app may need" in page
            assert f"Engine google-adk {version}, Python 3." in page
            assert f"({adk_python()})" in page


@pytest.mark.parametrize(("app", "status"), [("weather", 422), ("nobody", 404)])
def test_an_unknown_engine_or_app_is_refused(tmp_path, app, status):
    shutil.copytree(PROJECTS, tmp_path / "agents")
    with running(tmp_path / "agents", tmp_path / "data") as server:
        answer = post(server, f"/apps/{app}/engine", engine="other")
        assert answer.status_code == status


def test_the_session_page_names_its_apps_engine(tmp_path):
    shutil.copytree(PROJECTS, tmp_path / "agents")
    options = (tmp_path / "agents", tmp_path / "data", "--python", str(adk_python()))
    with running(*options) as server, server.client() as client:
        client.post("/apps/weather/reload")
        answer = post(server, "/apps/weather/sessions", title="mine")
        page = client.get(answer.headers["location"], headers=HTML).text
    assert 'id="on-engine">google-adk 2.' in page
    assert "runs on google-adk itself" in page
    assert 'href="/apps/weather#engine"' in page
