"""The program that plays recordings in the agents' own Python; `elsewhere.Player` starts it.

It reads one order per line from standard input, and answers with one line on standard output. Agent
code can't reach either: what it prints goes to standard error.
"""

import json
import os
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from devui.testing.offline import refuse_connections
from devui.testing.playing import play_here
from devui.wire.engines import EngineChoice


def main(engine: str, *options: str) -> None:
    """Play the requested recordings on this engine."""
    with (
        suppress(KeyboardInterrupt),  # pytest reports Ctrl-C
        os.fdopen(os.dup(0), encoding="utf-8") as orders,
        _answers() as answers,
    ):
        if "offline" in options:
            refuse_connections()
        for line in orders:
            answer = _answer(json.loads(line), cast("EngineChoice", engine))
            answers.write(f"{json.dumps(answer)}\n")
            answers.flush()


def _answers() -> Any:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return answers


def _answer(order: dict[str, str], engine: EngineChoice) -> dict[str, Any]:
    try:
        return play_here(Path(order["agent"]), Path(order["recording"]), engine).as_json()
    except BaseException as error:
        if not isinstance(error, Exception | SystemExit):
            raise
        return {"raised": "".join(traceback.format_exception(error)).rstrip()}
