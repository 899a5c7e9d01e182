"""What executes recorded runs again, made of a server's parts."""

from devui.debugger.recovery.forking import Forking
from devui.debugger.replays import Replays
from devui.web.services import Services


def replays(found: Services) -> Replays:
    """The replays of a server; they are forks."""
    return Replays(found.journal, found.runs, Forking(found.journal, found.bus))
