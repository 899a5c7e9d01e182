"""Records runs again for `devui test --refresh` if they differ from their recording.

The new recordings go to a folder of that command, which redacts secrets before it writes anything
beside the test.
"""

import asyncio
import json
import os
import uuid
from pathlib import Path
from typing import Final

from devui.runtime.apps.app import App
from devui.runtime.workflow.base_node import BaseNode
from devui.wire.framing import codecs
from devui.wire.recordings import Recording
from devui.worker.replay.refresh import RefreshedRecording, refresh_headless
from devui.worker.replay.replay import CUT_OFF

REFRESH: Final = "DEVUI_REFRESH"
"""The environment variable that names the folder for new recordings; if unset, none are made."""

_recordings: dict[Path, Recording | None] = {}
"""The new recordings by path, shared by all tests that play the same one."""
_recording: list[Path] = []


def is_recording() -> bool:
    """Return whether a run is in progress that may really call its models and tools."""
    return bool(_recording)


def record_again(
    recording: Path,
    exported: App | BaseNode,
    old: Recording,
    *,
    because: str,
    agent: Path | None,
) -> Recording | None:
    """Record the run again, and return the new recording; None if the old one stays.

    `because` says how the run differs from its recording; `agent` is the app's folder, if known.
    The new recording, or why there is none, is written for `devui test` to report. Does nothing
    unless refreshing was requested.
    """
    folder = os.environ.get(REFRESH)
    if not folder:
        return None
    if recording not in _recordings:
        problem, result = _execute(recording, exported, old)
        _recordings[recording] = result.recording if result and problem is None else None
        report = {
            "recording": str(recording),
            "agent": str(agent) if agent else None,
            "because": because.splitlines()[0],
            "problem": problem,
            "live": result.live if result else [],
            "made": codecs().RECORDING.dump(result.recording).decode() if result else None,
        }
        text = json.dumps(report)
        Path(folder, f"{uuid.uuid4().hex}.json").write_text(text, encoding="utf-8")
    return _recordings[recording]


def _execute(
    recording: Path, exported: App | BaseNode, old: Recording
) -> tuple[str | None, RefreshedRecording | None]:
    """Record the run again; return why the result can't be used, if so, and the result."""
    if old.outcome in CUT_OFF:
        return "the recorded run was interrupted and would continue now; make the test again", None
    _recording.append(recording)
    try:
        result = asyncio.run(refresh_headless(exported, old))
    finally:
        _recording.pop()
    error = result.recording.error
    return (f"it fails now: {error}" if error and error != old.error else None), result
