"""Ctrl-C reports what the server has done of a job, rather than what was intended."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from devui.cli import follow
from devui.client import Client
from devui.failures import LEFT


@contextmanager
def answering(*statuses: str) -> Iterator[str]:
    """A server whose job has these statuses, one after another, and is unknown after the last."""
    remaining = list(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            body = {"status": remaining.pop(0)} if remaining else {"error": "no such job"}
            self.send_response(200 if "status" in body else 404)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        do_POST = do_GET  # noqa: N815

        def log_message(self, *values: object) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("statuses", "imported", "outcome"),
    [
        (["stopping", "stopping", "stopped"], None, "Stopped. Nothing was saved."),
        (["stopping", "done"], None, "Stopped. Nothing was saved."),  # the file isn't written
        (["stopping", "stopped"], 0, "Stopped. No sessions were imported."),
        (["stopping", "failed"], 14, "Stopped. 14 sessions were imported."),
        (
            ["stopping", "stopping", "done"],
            0,
            "The import had already finished. 1 session was imported.",
        ),
        (["done"], 14, "The import had already finished. 15 sessions were imported."),
        ([], 14, "Stopped. 14 sessions were imported."),
    ],
)
def test_ctrl_c_waits_for_the_end_of_the_job_and_reports_its_outcome(
    statuses: list[str],
    imported: int | None,
    outcome: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(follow, "_AGAIN", 0.01)
    with (
        answering(*statuses) as url,
        pytest.raises(SystemExit) as exit_info,
        follow.as_job(Client(url, "", "ada"), "importing", import_count=imported),
    ):
        raise KeyboardInterrupt
    assert exit_info.value.code == LEFT
    assert capsys.readouterr().err.strip() == outcome


def test_ctrl_c_without_an_answer_says_that_it_was_not_confirmed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with answering() as url:
        pass
    with (
        pytest.raises(SystemExit),
        follow.as_job(Client(url, "", "ada"), "importing", import_count=0),
    ):
        raise KeyboardInterrupt
    assert "didn't confirm" in capsys.readouterr().err
