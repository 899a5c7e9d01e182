"""A process is killed after a step, and another one continues with its file (resume seed)."""

import signal
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.kit.killed_process import TREES, runner_on
from tests.kit.stages import WHERE
from tests.source import ROOT

pytestmark = pytest.mark.slow
STEPS = {"story flow": (1, 4, 10, 18, 22, 26), "loop": range(1, 21, 3), "parallel": range(1, 17, 3)}
"""The numbers of events to kill it after; for the story flow, step ends and some in between."""


def play(tree: str, file: Path, after: int = 0) -> int:
    """Return the exit status of a process that runs the tree."""
    command = [sys.executable, "-m", "tests.kit.killed_process", tree, str(file), str(after)]
    return subprocess.run(command, cwd=ROOT, check=False, timeout=120).returncode


async def session_in(runner):
    session = await runner.session_service.get_session(app_name=runner.app_name, **WHERE)
    assert session is not None
    return session


def history_of(events) -> list[str]:
    """Return what was done, in an order that doesn't depend on who came first."""
    lines = []
    for event in events:
        parts = event.content.parts if event.content else []
        contents = [
            part.text
            or (part.function_call and part.function_call.name)
            or part.function_response.response
            for part in parts
        ]
        progress = event.actions.agent_state or event.actions.end_of_agent
        lines.append(f"{event.author} at {event.branch}: {contents} {progress}")
    return sorted(lines)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The files of uninterrupted runs."""
    files = {tree: tmp_path_factory.mktemp("whole") / "sessions.db" for tree in TREES}
    for tree, file in files.items():
        assert play(tree, file) == 0
    return files


@pytest.mark.parametrize(("tree", "after"), [(tree, n) for tree in STEPS for n in STEPS[tree]])
async def test_another_process_completes_a_killed_run_with_the_same_result(
    tree, after, whole, tmp_path
):
    assert play(tree, tmp_path / "s.db", after) == -signal.SIGKILL
    runner = runner_on(tree, str(tmp_path / "s.db"))
    session_before = await session_in(runner)
    events = runner.run_async(**WHERE, invocation_id=session_before.events[-1].invocation_id)
    async with aclosing(events):
        assert [event async for event in events]
    session = await session_in(runner)
    whole_session = await session_in(runner_on(tree, str(whole[tree])))
    assert history_of(session.events) == history_of(whole_session.events)
    assert session.state == whole_session.state
