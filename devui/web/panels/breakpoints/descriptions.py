"""Breakpoints in words, and the shapes of their marks."""

from devui.debugger.breakpoints.breakpoint import Draft
from devui.debugger.breakpoints.kinds import KINDS
from devui.web.panels.breakpoints.parts import MarkShape
from devui.web.text.deceptive_characters import visible


def mark_shape(draft: Draft) -> MarkShape:
    """Return the shape of a breakpoint's mark, as in editors: a dot holds the run, a diamond has a
    condition, an outline writes a log line."""
    if draft.log:
        return "log"
    return "conditional" if draft.condition or draft.hit else "break"


def description(draft: Draft) -> str:
    """Return what a breakpoint waits for, in words: `tool find_airports of TravelAgent`."""
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
    """Return a breakpoint with its condition, hit count and log line, in one line."""
    condition = f" if {draft.condition}" if draft.condition else ""
    times = f", hits {draft.hit}" if draft.hit else ""
    log = f", logs {draft.log}" if draft.log else ""
    return visible(f"{description(draft)}{condition}{times}{log}")
