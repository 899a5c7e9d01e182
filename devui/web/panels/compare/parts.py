"""The comparison: its pages, sides, and rows."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from devui.web.basic_parts import JsonTree, Status, Theme
from devui.web.panels.request.parts import Difference, PromptDiff
from devui.web.panels.session.parts import MenuItem

PairKind = Literal["same", "changed", "left", "right", "moved"]
Pieces: TypeAlias = tuple[tuple[Difference, str], ...]


@dataclass(frozen=True, slots=True)
class CompareSide:
    """What stands on one side, and what could stand there instead."""

    label: str
    """`left` or `right`."""
    title: str
    about: str
    href: str
    status: Status
    word: str
    sessions: tuple[MenuItem, ...]
    runs: tuple[MenuItem, ...]
    """Runs of the session, the whole of it first; none where there is one run at most."""
    note: str = ""
    """Of what is not compared, or not over."""


@dataclass(frozen=True, slots=True)
class CompareChoice:
    """What to compare a side with."""

    side: str
    """The side; "" while there is none, either."""
    sessions: tuple[MenuItem, ...]
    runs: tuple[MenuItem, ...]


@dataclass(frozen=True, slots=True)
class CompareFigure:
    """One figure of both sides."""

    label: str
    left: str
    right: str
    differs: bool


@dataclass(frozen=True, slots=True)
class CompareCell:
    """An event on its side."""

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
class SidedText:
    """A text on both sides, with what differs in it."""

    left: Pieces
    right: Pieces


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A value on both sides; None where there is none."""

    path: str
    left: JsonTree | None
    right: JsonTree | None
    text: SidedText | None = None
    """In place of both, where both are long texts."""


@dataclass(frozen=True, slots=True)
class PairSection:
    """What differs in one aspect."""

    title: str
    values: tuple[ComparedValue, ...]
    more: str = ""
    """How many differences are not shown, in words."""


@dataclass(frozen=True, slots=True)
class PairDiff:
    """What differs between two events."""

    template: ClassVar[str] = "compare/pair_diff.html"
    sections: tuple[PairSection, ...]
    note: str
    """What there is to say besides."""
    prompts: PromptDiff | None
    """What was sent to the models, where that differs."""


@dataclass(frozen=True, slots=True)
class ComparePair:
    """One row: events that belong together, or one alone. Its id is `p-{left}-{right}`."""

    template: ClassVar[str] = "compare/compare_pair.html"
    kind: PairKind
    dom_id: str
    left: CompareCell | None
    right: CompareCell | None
    aspects: tuple[str, ...]
    """What differs, a word each."""
    first: bool
    """Here the two begin to differ."""
    differs: bool
    href: str
    """Where the difference is asked for."""
    open_href: str
    """The page with it unfolded."""
    elsewhere: str = ""
    """The row of the partner, of one that has moved."""
    elsewhere_label: str = ""
    body: PairDiff | None = None
    here: bool = False
    """The reader stood on it: it has the focus."""


@dataclass(frozen=True, slots=True)
class CompareStretch:
    """Rows that are the same, folded."""

    template: ClassVar[str] = "compare/compare_stretch.html"
    label: str
    """`12 events the same`."""
    places: str
    """`#2 to #13`."""
    href: str
    open_href: str
    at: str
    """The row in it that the reader stood on, else the first: `2-2`."""
    here: bool = False


@dataclass(frozen=True, slots=True)
class ComparePairs:
    """Rows, as a stretch unfolds to them."""

    template: ClassVar[str] = "compare/compare_pairs.html"
    pairs: tuple[ComparePair, ...]


CompareItem: TypeAlias = ComparePair | CompareStretch


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the two differ, and where it begins."""

    equal: bool
    text: str
    differences: int
    first: str = ""
    """What differs there."""
    first_href: str = ""
    first_label: str = ""
    """`#4`."""
    prompts: str = ""
    """What of the prompts is another one, and from where on."""


@dataclass(frozen=True, slots=True)
class CompareTable:
    """The rows of a page, and where the others are."""

    template: ClassVar[str] = "compare/compare_table.html"
    items: tuple[CompareItem, ...]
    before_href: str = ""
    after_href: str = ""


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
