"""Tools that check: replays, comparisons, and tests made from sessions."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, Final

from devui.client import Client
from devui.failures import DevuiError
from devui.mcp.answers import join_lines, outcome, quantity, short, short_json
from devui.mcp.tool import SessionTool, Tool

_SECONDS: Final = 50.0
_ROWS: Final = 15
_TAIL: Final = 3000
_TEST_SECONDS: Final = 300
"""Longer than many clients wait for an answer; `paths` keeps a call short."""
_VERDICTS: Final[Mapping[int, str]] = {0: "passed", 1: "failed"}
"""The verdict of `devui test` by exit status, if it ran any tests."""
_NO_TESTS: Final = 2
"""The exit status of `devui test` if it couldn't run any tests."""


class Replay(SessionTool):
    """Run a recorded run again in a copy, on the current code, with recorded model and tool
    answers; show the first divergence. Calls nothing live."""

    reads: ClassVar[bool] = False
    run: str | None = None
    """Default: the newest"""

    def answer(self, client: Client) -> str:
        """Return the verdict, with the first difference."""
        replay = client.start_replay(self.key_of(client), run=self.run)
        position = client.wait(client.run(replay["run"]), seconds=_SECONDS)
        verdict = client.replay(replay["run"])["verdict"]
        if verdict is None:
            return outcome(client, position, 0)
        word = "identical" if verdict["identical"] else "not identical"
        counts = f"{verdict['events']} of {verdict['recorded']} events as recorded"
        lines = [f"{word}: {counts}; replayed in session {replay['session']}"]
        lines += [f"note: {note}" for note in verdict["notes"]]
        if divergence := verdict["divergence"]:
            lines.append(f"first divergence: {divergence['message']}")
            lines += [_field(each) for each in divergence["differences"]]
            for name in ("expected", "actual", "nearest"):
                value = divergence[name]
                if value is not None and not divergence["differences"]:
                    lines.append(f"  {name}: {short_json(short(value))}")
        return join_lines(lines)


def _field(difference: Mapping[str, Any]) -> str:
    name = difference["field"] or "value"
    old, new = short_json(difference["expected"]), short_json(difference["actual"])
    return f"  {name}: {old} → {new}"


class Compare(Tool):
    """Compare two sessions or runs, aligned by what events are; show what differs."""

    left: str
    """A session, or one of its runs: 12, or 12@2 for its second run"""
    right: str

    def answer(self, client: Client) -> str:
        """Return the rows that differ, with the details of the first."""
        answer = client.compare(self.left, self.right)
        later = [row for row in answer["rows"] if row["later"]]
        suffix = (
            f"; {quantity(len(later), 'later event')} on the {later[0]['kind']}" if later else ""
        )
        if answer["equal"]:
            return f"no difference{suffix}"
        lines = [quantity(answer["differences"], "difference") + suffix]
        lines += [_prompt(each) for each in answer["prompts"]]
        rows = [row for row in answer["rows"] if row["differs"]]
        lines += [_row(row) for row in rows[:_ROWS]]
        lines += [f"… {quantity(len(rows) - _ROWS, 'more row')}"] if len(rows) > _ROWS else []
        if first := answer["first"]:
            pair = client.compare_events(
                self.left,
                self.right,
                left_event=first["left"] or first["movedTo"],
                right_event=first["right"] or first["movedTo"],
            )
            for section in pair["sections"]:
                lines.append(f"first difference, {section['aspect']} {section['name']}".rstrip())
                lines += [f"  {short_json(short(each))}" for each in section["changes"]]
            lines += [f"  state {short_json(short(each))}" for each in pair["state"] or ()]
        return join_lines(lines)


def _prompt(piece: Mapping[str, Any]) -> str:
    left, right = short_json(piece["left"]), short_json(piece["right"])
    return f"the models were called with another {piece['piece']}: {left} → {right}"


def _row(row: Mapping[str, Any]) -> str:
    left, right = (f"#{row[side]}" if row[side] else "none" for side in ("left", "right"))
    return f"{row['kind']}: {left} | {right} {', '.join(row['aspects'])}".rstrip()


class MakeTest(SessionTool):
    """Keep a session as a pytest file with recordings, below the server's folder."""

    reads: ClassVar[bool] = False
    file: str | None = None
    """Such as tests/test_trip.py; default: list the possible checks"""
    checks: list[str] | None = None
    """Default: those that are on"""
    overwrite: bool = False

    def answer(self, client: Client) -> str:
        """Return the files written, or the checks to choose from."""
        key = self.key_of(client)
        if self.file is None:
            offer = client.test_offer(key)
            lines = [f"default file: tests/{offer['name']}.py"]
            for run in offer["runs"]:
                lines.append(f"{run['test']} (run {run['run']})")
                lines += [
                    f"  [{'x' if each['on'] else ' '}] {each['id']}: {each['label']}"
                    for each in run["checks"]
                ]
            return join_lines(lines)
        test = client.make_test(key, file=self.file, checks=self.checks, overwrite=self.overwrite)
        return join_lines([*test["files"], f"run it with: devui test {test['files'][0]}"])


class RunTests(Tool):
    """Run tests made of sessions (devui test) in the current folder, without models or network."""

    reads: ClassVar[bool] = False
    paths: list[str] | None = None
    python: str | None = None
    """Interpreter or virtual environment of the agents; default: devui's own"""

    def answer(self, client: Client) -> str:
        """Return the verdict, and the end of pytest's output."""
        python = ["--python", self.python] if self.python else []
        command = [sys.executable, "-P", "-m", "devui", "test", *python, *(self.paths or ())]
        with subprocess.Popen(  # noqa: S603 - ourselves
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as tests:
            _under_way.add(tests)
            try:
                output, _ = tests.communicate(timeout=_TEST_SECONDS)
            except subprocess.TimeoutExpired as error:
                _kill(tests)
                raise DevuiError(
                    f"the tests took longer than {_TEST_SECONDS} s and were stopped: name paths"
                ) from error
            finally:
                _under_way.discard(tests)
        text = output.strip()
        if (rest := len(text) - _TAIL) > 0:
            text = f"… {quantity(rest, 'earlier character')}\n{text[-_TAIL:]}"
        if tests.returncode not in _VERDICTS:
            end = (
                "no tests were run" if tests.returncode == _NO_TESTS else "the tests didn't finish"
            )
            raise DevuiError(f"{end} (exit status {tests.returncode})\n{text}")
        return f"{_VERDICTS[tests.returncode]}\n{text}"


_under_way: Final[set[subprocess.Popen[str]]] = set()


def stop_tests() -> None:
    """Kill the tests in progress, since nobody is left to read their result."""
    for tests in tuple(_under_way):
        _kill(tests)


def _kill(tests: subprocess.Popen[str]) -> None:
    """Kill the command's process group, since pytest is a separate process in it."""
    with suppress(ProcessLookupError):
        os.killpg(tests.pid, signal.SIGKILL)
