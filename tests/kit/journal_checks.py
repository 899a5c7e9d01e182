"""Checks that a journal is intact and its state the fold of its deltas, whatever tests did (R36).

The doctor's checks run whenever a server of a test has ended, cleanly or not.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from devui.store.sqlite.checkup import check_journal


def delta_of(data: str) -> Mapping[str, Any]:
    """Return the state delta of an event's JSON."""
    delta: Mapping[str, Any] = (json.loads(data).get("actions") or {}).get("stateDelta") or {}
    return delta


def look_through(data: Path) -> None:
    """Fail if anything is wrong with the journal of a data folder that nobody writes to."""
    journal = data / "journal.db"
    if journal.exists():
        faults = check_journal(journal, delta_of).faults
        assert not faults, "\n".join(faults)
