"""Describes what a run waits for outside devui: a Python debugger or an unresponsive process."""

from collections.abc import Mapping
from typing import Any, Final

UNRESPONSIVE: Final = (
    "The agent's process isn't responding: it is starting, suspended, or running C code that"
    " doesn't release the interpreter."
)


def debugger_words(debugger: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a debugger is doing, and what to do about it; `debugger` is from the API."""
    if debugger["status"] == "awaited":
        return awaited_words(debugger["address"])
    where = "your terminal" if debugger["name"] == "pdb" else "your editor"
    title = f"{debugger['name']} has stopped the agent's code."
    return title, f"Continue in {where}. Time limits are paused."


def awaited_words(address: str) -> tuple[str, str]:
    """Return the same for an app that waits for an editor to attach at this address."""
    title = f"The app is waiting for an editor to attach at {address}."
    return title, "Attach your editor's debugger to load it (--wait-for-client)."
