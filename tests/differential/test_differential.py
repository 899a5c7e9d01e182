"""The same agents, tools and model answers on devui.runtime and on google-adk 2.13.0.

Events as they are yielded, what models are asked, the sessions and artifacts in the end and what
callbacks saw are compared field by field; made-up ids count by the order of their appearance.
"""

import pytest

from tests.differential.cases import CASES
from tests.differential.guide import GUIDE, page
from tests.differential.normal import Json, differences, normalised
from tests.differential.stage import perform
from tests.source import ROOT

pytestmark = pytest.mark.differential

ALIKE = [name for name, case in CASES.items() if case.differs is None]
DIFFERENT = [name for name, case in CASES.items() if case.differs is not None]
SHOWN = 25

TO_MEND = {
    "a long running tool pauses a sequence",
}
"""Defects of devui.runtime that are known and not mended yet."""


def parameter(name: str) -> object:
    marks = [pytest.mark.xfail(reason="a known defect", strict=True)] if name in TO_MEND else []
    return pytest.param(name, marks=marks)


async def found(name: str, theirs: Json) -> list[str]:
    """Where the two runtimes differ in a case."""
    assert "broken" not in theirs[name], theirs[name]["broken"]
    case = CASES[name]
    ours = normalised(await perform("devui.runtime", case.play), case)
    return differences(ours, theirs[name])


@pytest.mark.parametrize("name", [parameter(name) for name in ALIKE])
async def test_both_runtimes_do_the_same(name: str, theirs: Json) -> None:
    wrong = await found(name, theirs)
    assert not wrong, "\n" + "\n".join(wrong[:SHOWN])


@pytest.mark.parametrize("name", DIFFERENT)
async def test_a_difference_that_is_told_of_is_there(name: str, theirs: Json) -> None:
    assert await found(name, theirs), "both do the same now: take `differs` away from the case"


def test_there_are_many_cases() -> None:
    assert len(CASES) >= 150


def test_the_guide_tells_of_every_difference() -> None:
    assert GUIDE.read_text(encoding="utf-8") == page(), (
        f"write it anew: python -m tests.differential.guide > {GUIDE.relative_to(ROOT)}"
    )
