"""Two sessions or runs beside each other."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.pages import Theme
from devui.web.parts.compare import CompareChoice, CompareFigure, CompareSide, CompareTable, Verdict


@dataclass(frozen=True, slots=True)
class ChoosePage:
    """`/compare` as long as a side is not named."""

    template: ClassVar[str] = "pages/choose.html"
    theme: Theme
    choice: CompareChoice


@dataclass(frozen=True, slots=True)
class ComparePage:
    """`/compare`: two sessions or runs beside each other."""

    template: ClassVar[str] = "pages/compare.html"
    theme: Theme
    left: CompareSide
    right: CompareSide
    swap_href: str
    verdict: Verdict
    figures: tuple[CompareFigure, ...]
    table: CompareTable
    folded: bool
    """What is the same is folded."""
    fold_href: str
    """The same page with that unfolded, or folded again."""
