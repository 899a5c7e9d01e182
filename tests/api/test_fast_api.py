"""The server as an application in a main.py that uvicorn serves in its own process."""

import inspect
import re
import subprocess
import sys
from contextlib import contextmanager

import httpx2
import pytest

from devui.fast_api import get_fast_api_app
from tests.kit.patience import PATIENCE
from tests.kit.server import ROOT, SAMPLES, TOKEN

MAIN = """
import socket
from contextlib import asynccontextmanager

import uvicorn

from {package}.fast_api import get_fast_api_app

listening = socket.create_server(("127.0.0.1", 0))
port = listening.getsockname()[1]


@asynccontextmanager
async def mine(app):
    print("mine opened", flush=True)
    yield
    print("mine closed", flush=True)


app = get_fast_api_app(agents_dir={agents!r}, port=port, lifespan=mine, {more})
print(f"http://127.0.0.1:{{port}}", flush=True)
config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
uvicorn.Server(config).run(sockets=[listening])
"""
ADK = ROOT / "tests" / "runtime" / "data" / "adk_members.txt"
HERE = {"app_name": "field_state", "user_id": "u", "session_id": "s"}
MESSAGE = {"role": "user", "parts": [{"text": "Plan a trip."}]}


@contextmanager
def hosted(folder, more="", package="devui", **environment):
    """Run a main.py; yield its address, its process and the lines it has printed."""
    main = folder / "main.py"
    main.write_text(MAIN.format(agents=str(SAMPLES), more=more, package=package), encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(main)],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        address = process.stdout.readline().strip()
        lines = [line for line in iter(process.stdout.readline, "mine opened\n") if line]
        lines.append(process.stdout.readline())
        yield address, process, lines
    finally:
        process.kill()
        process.communicate()


def client(address: str, token: str = TOKEN) -> httpx2.Client:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx2.Client(base_url=address, headers=headers, timeout=PATIENCE)


@pytest.mark.parametrize("package", ["devui", "devui.runtime.cli"])
def test_a_run_is_stored_where_the_uri_says(tmp_path, package):
    uri = f"sqlite+aiosqlite:///{tmp_path}/kept/sessions.db"
    (tmp_path / "kept").mkdir()
    with (
        hosted(tmp_path, f"session_service_uri={uri!r}", package=package, DEVUI_TOKEN=TOKEN) as (
            address,
            *_,
        ),
        client(address) as http,
    ):
        assert "field_state" in http.get("/list-apps").json()
        assert http.post("/apps/field_state/users/u/sessions/s", json={}).status_code == 200
        events = http.post("/run", json={**HERE, "new_message": MESSAGE}).json()
        assert events[-1]["author"] != "user"
        assert http.get("/").status_code == 200
    assert (tmp_path / "kept" / "sessions.devui").is_dir()


def test_adks_keywords_have_their_effect(tmp_path):
    (tmp_path / "audits.py").write_text(
        "from google.adk.plugins.base_plugin import BasePlugin\n\n\n"
        "class Audit(BasePlugin):\n"
        "    async def before_run_callback(self, *, invocation_context):\n"
        "        print(self.name, 'looked')\n",
        encoding="utf-8",
    )
    more = (
        "session_service_uri='memory://', auto_create_session=True, max_llm_calls=9,"
        " extra_plugins=['audits.Audit'], memory_service_uri='memory://'"
    )
    here = {"DEVUI_TOKEN": TOKEN, "PYTHONPATH": f"{ROOT}:{tmp_path}"}
    with hosted(tmp_path, more, **here) as (address, *_), client(address) as http:
        answer = http.post("/run", json={**HERE, "new_message": MESSAGE})
        assert answer.status_code == 200, answer.text
        [run] = http.get("/api/sessions/1/runs").json()["runs"]
        assert "audits.Audit looked" in http.get(f"/runs/{run['run']}/log").text


def test_without_pages_only_the_apis_are_served(tmp_path):
    with (
        hosted(tmp_path, "web=False, session_service_uri='memory://'", DEVUI_TOKEN=TOKEN) as (
            address,
            *_,
        ),
        client(address) as http,
    ):
        assert http.get("/list-apps").status_code == 200
        assert http.get("/").status_code == 404
    assert not (tmp_path / ".devui").exists()


def test_it_is_guarded_like_the_command_and_shuts_down_cleanly(tmp_path):
    with hosted(tmp_path, "allowed_hosts=['box.example']") as (address, process, lines):
        output = "".join(lines)
        output += process.stdout.readline() if "Bearer" not in output else ""
        token = re.search(r"Bearer (\S+)", output)[1]
        link = re.search(rf"{address}/login\?code=\S+", output)[0]
        assert httpx2.get(f"{address}/list-apps").status_code == 401
        assert httpx2.get(link, follow_redirects=False).status_code in {200, 303}
        with client(address, token) as http:
            assert http.get("/list-apps").status_code == 200
            port = address.rpartition(":")[2]
            for host, status in {f"box.example:{port}": 200, "evil.example": 403}.items():
                assert http.get("/list-apps", headers={"Host": host}).status_code == status
        process.terminate()
        assert "mine closed" in process.communicate(timeout=PATIENCE)[0]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"allow_origins": ["localhost:3000"]}, ValueError, "scheme"),
        ({"trace_to_cloud": True}, ValueError, "Google Cloud"),
        ({"session_service_uri": "postgresql://db"}, ValueError, "folder of its own"),
        ({"host": "0.0.0.0"}, ValueError, "DEVUI_TOKEN"),
        ({"bind_host": "0.0.0.0"}, ValueError, "DEVUI_TOKEN"),
        ({"trigger_sources": ["pubsub"]}, ValueError, "POST /run"),
        ({"agents_folder": "x"}, TypeError, "'agents_folder'"),
    ],
)
def test_unsupported_options_are_refused_with_advice(options, error, message, monkeypatch):
    monkeypatch.delenv("DEVUI_TOKEN", raising=False)
    with pytest.raises(error, match=message):
        get_fast_api_app(agents_dir="agents", **options)


def test_adks_keywords_are_accepted_or_refused_with_advice():
    parameters = inspect.signature(get_fast_api_app).parameters
    lines = ADK.read_text(encoding="utf-8").split()
    keywords = [
        line.rpartition("get_fast_api_app(")[2][:-1] for line in lines if "fast_api" in line
    ]
    assert "agents_dir" in keywords
    for name in keywords:
        if name in parameters:
            continue
        try:
            get_fast_api_app(agents_dir="agents", **{name: "given"})
        except ValueError as error:
            assert f"({name}=...) is not supported: " in str(error)  # noqa: PT017  or accepted


def test_adks_keywords_with_their_default_values_are_accepted():
    get_fast_api_app(
        agents_dir="agents",
        web=True,
        reload_agents=True,
        use_local_storage=True,
        allow_origins=None,
        a2a=False,
        trace_to_cloud=False,
    )


async def test_a_request_before_the_lifespan_starts_is_a_clear_error():
    app = get_fast_api_app(agents_dir="agents")
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://x") as http:
        with pytest.raises(RuntimeError, match="lifespan"):
            await http.get("/")


def test_a_missing_agents_folder_is_refused_with_its_full_path(tmp_path):
    with pytest.raises(ValueError, match="names no folder") as refused:
        get_fast_api_app(agents_dir=tmp_path / "missing")
    assert str(tmp_path / "missing") in str(refused.value)
