"""Branches: where events were made and who sees them, as names joined by dots (adk-runtime 5.6).

A segment is an agent's name, or one with the call or the run that it works for: `expert@adk-1`.
"""

from collections.abc import Iterable
from itertools import accumulate, takewhile


def branch_below(branch: str | None, segment: str) -> str:
    """The branch of that segment below another, or at the top."""
    return f"{branch}.{segment}" if branch else segment


def is_within(branch: str | None, ancestor: str) -> bool:
    """Whether `branch` is `ancestor` or lies below it."""
    return branch is not None and (branch == ancestor or branch.startswith(f"{ancestor}."))


def is_on_path(branch: str | None, own: str | None) -> bool:
    """Whether an agent on branch `own` sees what happened on `branch`: the same or above it."""
    if not branch or not own:
        return True
    return branch == own or own.startswith(f"{branch}.")


def line(branch: str) -> set[str]:
    """The branches that are seen from one: that itself and those above it."""
    return set(accumulate(branch.split("."), "{}.{}".format))


def common_branch(branches: Iterable[str | None]) -> str | None:
    """The deepest branch that all of these are on or below."""
    paths = [(branch or "").split(".") for branch in branches]
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*paths, strict=False))
    return ".".join(level[0] for level in levels) or None
