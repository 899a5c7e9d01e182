"""Workers of both engines export each span once, controlled by the same variables as `adk web`."""

import subprocess

import pytest

from tests.kit.oracle import adk_python
from tests.kit.server import TOKEN, Server, make_session, run, running, write_app

HELLO = """
from google.adk.agents import Agent
from google.adk.models import BaseLlm, LlmResponse
from google.genai import types


class Model(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        content = types.Content(role="model", parts=[types.Part(text="Hello")])
        yield LlmResponse(content=content, finish_reason="STOP")


root_agent = Agent(name="one", model=Model(model="m"))
"""
EXPORTER = "import opentelemetry.exporter.otlp.proto.http, google.adk"


@pytest.mark.parametrize("engine", ["devui", "google-adk"])
def test_a_worker_exports_its_runs(engine, tmp_path) -> None:
    options = ("--engine", engine)
    if engine == "google-adk":
        done = subprocess.run([str(adk_python()), "-c", EXPORTER], capture_output=True, check=False)
        if done.returncode:
            pytest.skip("google-adk's environment has no exporter")
        options += ("--python", str(adk_python()))
    write_app(tmp_path / "agents", "one", HELLO)
    with running(tmp_path / "agents", tmp_path / "sink") as sink:
        server = Server(tmp_path / "agents", tmp_path / "data", *options)
        server.environment = {
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{sink.url}/v1/traces",
            "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization=Bearer%20{TOKEN}",
            "OTEL_SERVICE_NAME": "elsewhere",
        }
        server.start()
        try:
            with server.client() as client:
                session = make_session(client, "one")
                run(client, "one", session["id"], "hi")
        finally:
            server.stop()
        with sink.client() as client:
            sessions = client.get("/api/sessions", params={"app": "elsewhere"}).json()["sessions"]
            assert [each["id"] for each in sessions] == [session["id"]]
            spans = client.get(f"/api/sessions/{sessions[0]['key']}/spans").json()["spans"]
            assert [(each["type"], each["name"]) for each in spans] == [
                ("agent", "one"),
                ("model", "m"),
            ]
