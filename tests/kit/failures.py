"""Lists the tests that failed in the last run, and says if they are few enough to run again.

`python -m tests.kit.failures` exits with status 1 if there are none, or too many.
"""

import json
import sys
from pathlib import Path

MOST = 10
"""More failures than this have another cause than a busy machine."""

ROOT = Path(__file__).parents[2]


def main() -> int:
    """Print them, one per line, and return the exit status."""
    record = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
    failures = sorted(json.loads(record.read_text(encoding="utf-8"))) if record.exists() else []
    sys.stdout.writelines(f"{each}\n" for each in failures)
    return 0 if 0 < len(failures) <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
