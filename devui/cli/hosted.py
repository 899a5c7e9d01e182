"""The server program that `devui.serve` starts for the agents of its process.

`python -m devui.cli.hosted --control FD --pid N --agents DIR [OPTIONS] APP …`; only `devui.serve`
starts it. It prints one line of JSON: where the server is, or why it didn't start. It exits when
the other side of the socket is closed.
"""

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

from devui.cli.web import listen, log_to_terminal
from devui.debugger.events.prices import WrongPrices
from devui.settings import (
    DEFAULT_DATA_DIR,
    DEFAULT_HOST,
    HOSTED_WORKERS,
    Hosted,
    Limits,
    Settings,
    WrongLimit,
)
from devui.store.errors import StoreError
from devui.web.program import serve
from devui.web.security.access import Access, WeakToken


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="devui.cli.hosted")
    parser.add_argument("apps", nargs="+")
    parser.add_argument("--control", type=int, required=True)
    parser.add_argument("--pid", type=int, required=True)
    parser.add_argument("--agents", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path, default=DEFAULT_DATA_DIR)
    parser.add_argument("--port", type=int)
    parser.add_argument("--limit", action="append", default=[])
    return parser.parse_args()


def main() -> None:
    """Serve until the host closes the socket."""
    options = _arguments()
    log_to_terminal("warning", options.agents)
    os.set_inheritable(options.control, False)
    try:
        access = Access(os.environ.get("DEVUI_TOKEN"))
        listeners = listen(DEFAULT_HOST, options.port)
        settings = Settings(
            agents=options.agents,
            data_dir=options.data_dir,
            port=listeners[0].getsockname()[1],
            limits=Limits.read(options.limit),
            workers=HOSTED_WORKERS,
            hosted=Hosted(tuple(options.apps), options.control, options.pid),
        )

        def announce(link: str) -> None:
            _say({"url": settings.url, "link": link, "token": access.token})

        asyncio.run(serve(settings, access, listeners, announce))
    except (StoreError, WeakToken, WrongLimit, WrongPrices, OSError) as error:
        _say({"error": str(error)})
        sys.exit(1)


def _say(value: dict[str, str]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
