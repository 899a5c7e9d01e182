"""What a copy of the worker that agent code forks keeps of it: nothing.

`os.fork()`, and multiprocessing by fork, copy the worker with its wire and its loop. A copy that
wrote to the wire would tear messages apart, one that held it would hide the worker's end, and one
that came back to the loop would do the agent's work a second time. So a copy has neither; what it
prints goes to the process's own output, and when it comes back to devui's code it ends (R50).
"""

import os
import selectors
from collections.abc import Iterable
from typing import NoReturn

from devui.wire.messages import Output

_CAME_BACK = 70
"""The exit status of a copy that came back: a fault of the software (EX_SOFTWARE)."""
_ADVICE = (
    "devui: a process that the agent forked came back from the agent's code, and was ended. "
    "End it where its work is done, with os._exit().\n"
)


class Turns(selectors.DefaultSelector):
    """What the worker's loop waits with; a forked copy cannot."""

    def __init__(self) -> None:
        super().__init__()
        self._owner = os.getpid()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for what is next."""
        if os.getpid() != self._owner:
            come_back()
        return super().select(timeout)


def come_back() -> NoReturn:
    """End this process, which is a copy of a worker."""
    _write(_ADVICE)
    os._exit(_CAME_BACK)


def say(output: Output) -> None:
    """Write to the process's own output what cannot go over the wire."""
    _write(f"{output.text}\n")


def let_go(descriptors: Iterable[int], nowhere: int) -> None:
    """In a copy: let descriptors lead nowhere; their numbers stay taken, as others hold them."""
    for descriptor in descriptors:
        os.dup2(nowhere, descriptor, inheritable=False)


def _write(text: str) -> None:
    try:
        os.write(2, text.encode(errors="replace"))
    except OSError:  # the agent closed it: there is nobody to tell
        return
