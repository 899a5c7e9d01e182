"""A server avoids full garbage collections, which stop all threads."""

import json
import subprocess
import sys

SCRIPT = """
import gc, json, sys
from devui.web.memory import spare_collections
if sys.argv[1] == "spared":
    spare_collections()
before = gc.get_stats()[2]["collections"]
kept = json.loads(json.dumps([{"name": n, "values": [n, {"n": n}]} for n in range(100_000)]))
print(json.dumps([gc.get_freeze_count(), gc.get_stats()[2]["collections"] - before]))
"""


def collections(how: str) -> tuple[int, int]:
    """Return how many objects are frozen, and how many full collections of the others ran."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, how], capture_output=True, text=True, check=True
    )
    frozen, full = json.loads(done.stdout)
    return frozen, full


def test_parsing_large_json_causes_no_full_garbage_collection() -> None:
    frozen, full = collections("spared")
    assert frozen > 10_000
    assert full == 0
    assert collections("as usual")[1] > 0
