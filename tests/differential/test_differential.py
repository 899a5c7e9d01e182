"""Plays the same agents, tools and model answers on devui.runtime and on google-adk 2.13.0.

Yielded events, model requests, the final sessions and artifacts, and the notes of callbacks are
compared field by field. Generated ids are replaced by the order in which they appear.
"""

import os
from typing import Any

import pytest

from tests.differential.case import Case
from tests.differential.cases import CASES
from tests.differential.guide import GUIDE, page
from tests.differential.normal import Json, differences, normalized
from tests.differential.stage import perform
from tests.kit.litellm_warnings import LITELLM_WARNINGS
from tests.source import ROOT

pytestmark = pytest.mark.differential


def _parameter(case: Case) -> Any:
    marks = LITELLM_WARNINGS if case.needs == "litellm" else ()
    return pytest.param(case.name, id=case.name, marks=marks)


ALIKE = [_parameter(case) for case in CASES.values() if case.differs is None]
DIFFERENT = [_parameter(case) for case in CASES.values() if case.differs is not None]
SHOWN = 25


async def records(name: str, theirs: Json) -> tuple[Json, Json]:
    """Return the two records of a case: ours as recorded, google-adk's normalized."""
    case = CASES[name]
    if missing := case.missing or theirs[name].get("missing"):
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{missing} is not installed")
    assert "broken" not in theirs[name], theirs[name]["broken"]
    return await perform("devui.runtime", case.play), theirs[name]


@pytest.mark.parametrize("name", ALIKE)
async def test_both_runtimes_behave_the_same(name: str, theirs: Json) -> None:
    ours, adk = await records(name, theirs)
    wrong = differences(normalized(ours, CASES[name]), adk["all"])
    assert not wrong, "\n" + "\n".join(wrong[:SHOWN])
    assert "PydanticSerializationError" not in str(theirs[name]), "the record itself failed"


@pytest.mark.parametrize("name", DIFFERENT)
async def test_an_intended_difference_still_exists(name: str, theirs: Json) -> None:
    case = CASES[name]
    ours, adk = await records(name, theirs)
    wrong = differences(normalized(ours, case), adk["all"])
    assert wrong, "both do the same now: take `differs` away from the case"
    if case.is_separable:
        besides = differences(normalized(ours, case, without=True), adk["rest"])
        assert not besides, "\n" + "\n".join(besides[:SHOWN])


def test_there_are_at_least_150_cases() -> None:
    assert len(CASES) >= 150


def test_the_guide_is_up_to_date() -> None:
    assert GUIDE.read_text(encoding="utf-8") == page(), (
        f"write it anew: python -m tests.differential.guide > {GUIDE.relative_to(ROOT)}"
    )
