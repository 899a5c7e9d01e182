"""The parts of a comparison: its pages, sides and rows."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from devui.web.basic_parts import JsonTree, Status, Theme
from devui.web.panels.request.parts import Difference, PromptDiff
from devui.web.panels.session.parts import MenuItem

PairKind = Literal["same", "changed", "left", "right", "moved"]
Pieces: TypeAlias = tuple[tuple[Difference, str], ...]


@dataclass(frozen=True, slots=True)
class CompareSide:
    """What is compared on one side, and what could be compared instead."""

    label: str
    """`left` or `right`."""
    title: str
    about: str
    href: str
    status: Status
    word: str
    sessions: tuple[MenuItem, ...]
    runs: tuple[MenuItem, ...]
    """The whole session and its runs, to choose from; empty if there is at most one run."""
    note: str = ""
    """A note that some events aren't compared, or that the run is still in progress."""


@dataclass(frozen=True, slots=True)
class CompareChoice:
    """The options for what to compare a side with."""

    side: str
    """The name of the side that is already chosen; "" if there is none."""
    sessions: tuple[MenuItem, ...]
    runs: tuple[MenuItem, ...]


@dataclass(frozen=True, slots=True)
class CompareFigure:
    """One figure, for both sides."""

    label: str
    left: str
    right: str
    differs: bool


@dataclass(frozen=True, slots=True)
class CompareCell:
    """An event on one side of a row."""

    number: int
    href: str
    kind: str
    word: str
    shape: str
    author: str
    text: str
    code: bool
    elapsed: str


@dataclass(frozen=True, slots=True)
class ComparedText:
    """A text on both sides, with its differences."""

    left: Pieces
    right: Pieces


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A value on both sides; None means that there is no value."""

    path: str
    left: JsonTree | None
    right: JsonTree | None
    text: ComparedText | None = None
    """Shown instead of both values if they are long texts."""


@dataclass(frozen=True, slots=True)
class PairSection:
    """The differences in one aspect."""

    title: str
    values: tuple[ComparedValue, ...]
    more: str = ""
    """How many differences aren't shown, in words."""


@dataclass(frozen=True, slots=True)
class PairDiff:
    """The differences between two events."""

    template: ClassVar[str] = "compare/pair_diff.html"
    sections: tuple[PairSection, ...]
    note: str
    """A note on what is the same, or that one event is missing."""
    prompts: PromptDiff | None
    """The differences in the model requests; None if there are none."""


@dataclass(frozen=True, slots=True)
class ComparePair:
    """One row: two matching events, or one alone. Its id is `p-{left}-{right}`."""

    template: ClassVar[str] = "compare/compare_pair.html"
    kind: PairKind
    dom_id: str
    left: CompareCell | None
    right: CompareCell | None
    aspects: tuple[str, ...]
    """The aspects that differ, in words."""
    first: bool
    """Whether this is the first difference."""
    differs: bool
    href: str
    """The URL of the differences."""
    open_href: str
    """The page with the differences unfolded."""
    counterpart: str = ""
    """The id of the row with the match of a moved event; "" for other rows."""
    counterpart_label: str = ""
    later: bool = False
    """Whether, after a fork, only this side has continued to this event."""
    body: PairDiff | None = None
    here: bool = False
    """Whether the reader was on this row, so that it gets the focus."""


@dataclass(frozen=True, slots=True)
class FoldedRows:
    """A folded stretch of equal rows, or of later events on one side of a fork."""

    template: ClassVar[str] = "compare/folded_rows.html"
    label: str
    """`12 matching events`."""
    places: str
    """`#2 to #13`."""
    href: str
    open_href: str
    at: str
    """The row in it that the reader was on, else the first: `2-2`."""
    here: bool = False


@dataclass(frozen=True, slots=True)
class ComparePairs:
    """The rows of an unfolded stretch."""

    template: ClassVar[str] = "compare/compare_pairs.html"
    pairs: tuple[ComparePair, ...]


CompareItem: TypeAlias = ComparePair | FoldedRows


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the two sides differ, and where the first difference is."""

    equal: bool
    text: str
    differences: int
    first: str = ""
    """The first difference, in words."""
    first_href: str = ""
    first_label: str = ""
    """`#4`."""
    prompts: str = ""
    """Which parts of the prompts differ, and from which event on."""
    later: str = ""
    """`21 later events on the left`, which don't count as differences."""


@dataclass(frozen=True, slots=True)
class CompareTable:
    """The rows of a page, and links to the others."""

    template: ClassVar[str] = "compare/compare_table.html"
    items: tuple[CompareItem, ...]
    before_href: str = ""
    after_href: str = ""


@dataclass(frozen=True, slots=True)
class ChoosePage:
    """`/compare` if a side isn't given."""

    template: ClassVar[str] = "pages/choose.html"
    theme: Theme
    choice: CompareChoice


@dataclass(frozen=True, slots=True)
class ComparePage:
    """`/compare`: two sessions or runs side by side."""

    template: ClassVar[str] = "pages/compare.html"
    theme: Theme
    left: CompareSide
    right: CompareSide
    swap_href: str
    verdict: Verdict
    figures: tuple[CompareFigure, ...]
    table: CompareTable
    folded: bool
    """Whether equal rows are folded."""
    fold_href: str
    """The same page with these rows unfolded, or folded again."""
