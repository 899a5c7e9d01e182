"""Generates docs/guide/adk-differences.md from the cases.

python -m tests.differential.guide > docs/guide/adk-differences.md
"""

import sys
from collections.abc import Iterable, Iterator

from devui.runtime.left_out import TABLE, LeftOut
from tests.differential.case import Difference
from tests.differential.cases import CASES
from tests.differential.left_out_members import MEMBERS
from tests.differential.normal import EVERYWHERE
from tests.source import ROOT

GUIDE = ROOT / "docs" / "guide" / "adk-differences.md"

_HEAD = """\
# Differences from google-adk

Agents that import `devui.runtime` instead of `google.adk` behave as with google-adk 2.13.0. Tests
run thousands of cases on both and compare every event, every model request and the final session.
This page is generated from those cases and lists all differences; each is intended.
"""


def page() -> str:
    """Return the text that the page should have."""
    lines = [*_everywhere(), *_in_cases(), *_left_out()]
    return "\n".join([_HEAD, *lines]).rstrip() + "\n"


def _everywhere() -> Iterator[str]:
    yield "## Everywhere\n"
    for difference in EVERYWHERE:
        yield from _section(difference)


def _in_cases() -> Iterator[str]:
    yield "## In these cases\n"
    shown_by: dict[Difference, list[str]] = {}
    for case in CASES.values():
        if case.differs is not None:
            shown_by.setdefault(case.differs, []).append(case.name)
    for difference, names in sorted(shown_by.items(), key=lambda item: item[0].topic):
        yield from _section(difference, names)


def _left_out() -> Iterator[str]:
    yield "## Left out\n"
    yield "Importing these fails with the message below. The names are below `google.adk`.\n"
    yield from _topics(TABLE)
    yield "## Members left out\n"
    yield "Members and parameters that the runtime's classes and functions don't have.\n"
    yield from _topics(MEMBERS)


def _topics(table: Iterable[LeftOut]) -> Iterator[str]:
    for left_out in table:
        yield f"### {left_out.topic}\n"
        yield f"- **Why**: {left_out.why}"
        yield f"- **Instead**: {left_out.instead}"
        names = " ".join(f"`{name}`" for name in left_out.names.split())
        yield f"- **Names**: {names}"
        yield ""


def _section(difference: Difference, names: Iterable[str] = ()) -> Iterator[str]:
    yield f"### {difference.topic}\n"
    yield f"- **devui**: {difference.here}"
    yield f"- **google-adk**: {difference.there}"
    yield f"- **Why**: {difference.why}"
    if names:
        yield f"- **Shown by**: {'; '.join(names)}"
    yield ""


if __name__ == "__main__":
    sys.stdout.write(page())
