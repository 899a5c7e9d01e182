"""Breakpoints in words, and how their marks are drawn."""

from devui.debugger.breakpoints.breakpoint import Draft
from devui.debugger.breakpoints.kinds import KINDS
from devui.web.panels.breakpoints.parts import MarkShape
from devui.web.text.visible import visible


def mark_shape(draft: Draft) -> MarkShape:
    """As editors draw them: a dot stops, a diamond has a condition, an outline writes a line."""
    if draft.log:
        return "log"
    return "conditional" if draft.condition or draft.hit else "break"


def description(draft: Draft) -> str:
    """What a breakpoint waits for, in words: `tool find_airports of TravelAgent`."""
    name = "" if draft.name == "*" else draft.name
    phrase = KINDS[draft.on].phrase
    if draft.on == "event":
        what = f"{name or 'any'} {phrase}"
    else:
        what = f"{phrase} {name}" if name else phrase.removesuffix(" to")
    agent = "" if draft.agent == "*" else f" of {draft.agent}"
    after = ", after" if draft.when == "after" else ""
    return visible(f"{what}{agent}{after}")


def full_description(draft: Draft) -> str:
    """A breakpoint with its condition, hit count and log line, in one line."""
    condition = f" if {draft.condition}" if draft.condition else ""
    times = f", hits {draft.hit}" if draft.hit else ""
    log = f", logs {draft.log}" if draft.log else ""
    return visible(f"{description(draft)}{condition}{times}{log}")
