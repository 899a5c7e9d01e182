"""Every requirement has a test, or docs/guide/security.md says that and why it doesn't hold."""

import re

from tests.requirements import MUST, proven
from tests.source import ROOT

PAGE = ROOT / "docs" / "guide" / "security.md"
SHOULD = {"R12", "R20", "R63", "R67"}
"""Requirements that aren't mandatory; a test may name them."""


def ids_below(heading: str) -> set[str]:
    """Return the ids in the first column of the table below a heading of the page."""
    _, _, section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    assert section, f"{PAGE.name} has no section {heading!r}"
    return set(re.findall(r"^\| (R\d\d) \|", section.partition("\n## ")[0], re.MULTILINE))


def test_every_requirement_has_a_test_or_a_reason_for_its_absence() -> None:
    without = MUST.keys() - proven().keys()
    assert without == ids_below("What does not hold"), (
        "mark the test that proves a requirement, or say in docs/guide/security.md why there is "
        "none; what has a test leaves that list"
    )


def test_a_requirement_that_holds_partly_has_a_test_for_that_part() -> None:
    assert ids_below("What holds partly") - proven().keys() == set()


def test_every_marker_names_a_requirement() -> None:
    assert proven().keys() - MUST.keys() - SHOULD == set()
