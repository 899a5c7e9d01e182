"""What a turn with ten tools leaves behind, in the server's memory and on disk, with no page open.

usage: python -m benchmarks.soak [--turns 1000]

The first fifty turns fill the server's caches and are not counted.
"""

import argparse
from pathlib import Path

from benchmarks.report import report
from benchmarks.rest import Client
from benchmarks.served import data_folder, resident_mb, serve

APP = "tool10"
WARM_UP = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1000)
    turns = parser.parse_args().turns
    with data_folder() as data:
        with serve(data) as served:
            client = Client(served.url, APP)
            for _ in range(WARM_UP):
                client.turn(client.new_session())
            before = resident_mb(served.process)
            for _ in range(turns):
                client.turn(client.new_session())
            growth = resident_mb(served.process) - before
            client.close()
        on_disk = _size(data)  # without the log, which the server merged into the journal
    report(
        {
            "soak.server_kb_per_turn": 1000 * growth / turns,
            "soak.disk_kb_per_turn": on_disk / (turns + WARM_UP) / 1000,
        }
    )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
