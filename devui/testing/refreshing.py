"""Records anew, for `devui test --refresh`, what is not as recorded any more.

What is made goes into a folder of that command: secrets are taken out there, before anything is
written beside the test.
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
from devui.worker.replay.refresh import Refreshed, refresh_headless
from devui.worker.replay.replay import CUT_OFF

REFRESH: Final = "DEVUI_REFRESH"
"""The variable with the folder for what is made; nothing is recorded anew without it."""

_recordings: dict[Path, Recording | None] = {}
"""By recording, so that tests that play the same one see the same."""
_recording: list[Path] = []


def is_recording() -> bool:
    """Whether a run is executed now whose models and tools may be called for real."""
    return bool(_recording)


def refreshed(
    recording: Path,
    exported: App | BaseNode,
    old: Recording,
    *,
    because: str,
    agent: Path | None,
) -> Recording | None:
    """The recording of this file made anew; None if it stays, or nobody wants another.

    `because` is how it differs, `agent` the folder of the app where that is known.
    """
    folder = os.environ.get(REFRESH)
    if not folder:
        return None
    if recording not in _recordings:
        problem, anew = _anew(recording, exported, old)
        _recordings[recording] = anew.recording if anew is not None and problem is None else None
        report = {
            "recording": str(recording),
            "agent": str(agent) if agent else None,
            "because": because.splitlines()[0],
            "problem": problem,
            "live": anew.live if anew else [],
            "made": codecs().RECORDING.dump(anew.recording).decode() if anew else None,
        }
        text = json.dumps(report)
        Path(folder, f"{uuid.uuid4().hex}.json").write_text(text, encoding="utf-8")
    return _recordings[recording]


def _anew(
    recording: Path, exported: App | BaseNode, old: Recording
) -> tuple[str | None, Refreshed | None]:
    """Why it cannot be used, and what was made."""
    if old.outcome in CUT_OFF:
        return "the recorded run was interrupted and would continue now; make the test again", None
    _recording.append(recording)
    try:
        anew = asyncio.run(refresh_headless(exported, old))
    finally:
        _recording.pop()
    failed = anew.recording.error
    return (f"it fails now: {failed}" if failed and failed != old.error else None), anew
