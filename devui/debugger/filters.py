"""What a filter of events asks for: `author:planner kind:call -partial "time out" tokens>1000`.

Terms are parted by spaces, and all have to hold. `name:value` compares a field, `*` stands for
any letters, `a,b` for either; `name>number` compares a figure; a minus before a term turns it
round. Whatever else is written is looked for in what the event says. Upper and lower case are one.

A term may be undecided by an event's row alone: its answer is None then, and its body decides.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Final, Self

from devui.debugger.nodes import name_of
from devui.debugger.summary import KINDS, Summary
from devui.store.rows import EventRow, NoteRow

LONGEST: Final = 1000
"""Characters of a filter."""
FIELDS: Final[Mapping[str, str]] = {
    "kind": "what sort of event it is",
    "is": "what else is true of it",
    "author": "who it is from",
    "agent": "",
    "tool": "a tool that it calls, or whose result it is",
    "key": "a state key that it changes",
    "branch": "where among parallel agents it is from",
}
"""What can be compared, and what that is; without words, another name of the one before."""
FIGURES: Final = ("tokens", "cost", "seconds", "size")
_AGENT: Final = "agent"
_TOKEN: Final = re.compile(r'(-?)(?:([A-Za-z]+)([:<>]=?))?("(?:[^"\\]|\\.)*"?|\S*)')


class FilterError(ValueError):
    """A filter that cannot be read; `at` is where in its text."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, slots=True)
class Facts:
    """What a filter may ask of one event, or of another row of the timeline."""

    kind: str = ""
    names: tuple[str, ...] = ()
    """Who it is from: its author, and its node in a workflow."""
    tools: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    all_keys: bool = True
    """Whether these are all."""
    branch: str = ""
    marks: frozenset[str] = frozenset()
    """Which of `MARKS` are true of it."""
    words: str = ""
    """What its row says, in lower case."""
    figures: Mapping[str, float | None] = field(default_factory=dict)
    data: str | None = None
    """Its JSON, if that was read."""

    @classmethod
    def of(
        cls,
        row: EventRow,
        summary: Summary,
        *,
        elapsed: float | None = None,
        cost: float | None = None,
        note: NoteRow | None = None,
        data: str | None = None,
    ) -> Self:
        """Those of an event; `elapsed` is in seconds since the one before, `cost` in dollars."""
        tools = (*(call.name for call in summary.calls), *(r.name for r in summary.responses))
        marks = frozenset(name for name, holds in MARKS.items() if holds(row, summary, note))
        said = (summary.text, summary.kind, row.author, *marks, *tools, *summary.state_keys)
        return cls(
            kind=summary.kind,
            names=(row.author, *filter(None, (name_of(summary.node),))),
            tools=tools,
            keys=summary.state_keys,
            all_keys=len(summary.state_keys) == summary.state_count,
            branch=row.branch or "",
            marks=marks,
            words=" ".join((*said, *summary.artifacts, note.text if note else "")).lower(),
            figures={
                "tokens": summary.tokens,
                "cost": cost,
                "seconds": elapsed,
                "size": row.size,
            },
            data=data,
        )


Mark = Callable[[EventRow, Summary, NoteRow | None], bool]
MARKS: Final[Mapping[str, Mark]] = {
    "error": lambda row, s, _: s.kind == "error" or any(r.failed for r in s.responses),
    "final": lambda row, s, _: row.final and s.kind != "user",
    "partial": lambda row, s, _: s.partial,
    "streamed": lambda row, s, _: row.chunks > 0,
    "edited": lambda row, s, _: s.edited,
    "long": lambda row, s, _: s.long_running,
    "state": lambda row, s, _: s.state_count > 0,
    "artifact": lambda row, s, _: bool(s.artifacts),
    "warned": lambda row, s, _: bool(s.notes),
    "starred": lambda row, s, note: note is not None and note.starred,
    "noted": lambda row, s, note: note is not None and bool(note.text),
}
"""What can be asked with `is:`."""


@dataclass(frozen=True, slots=True)
class Term:
    """One condition."""

    field: str
    """Of `FIELDS` or `FIGURES`; "" for words."""
    values: tuple[str, ...]
    """In lower case; one of them has to hold."""
    negated: bool = False
    compare: str = ":"
    number: float = 0.0

    def holds(self, facts: Facts) -> bool | None:
        """Whether it does; None: only the event's body tells."""
        plain = self._plain(facts)
        return plain if plain is None else plain != self.negated

    def _plain(self, facts: Facts) -> bool | None:
        if self.field in FIGURES:
            return self._compared(facts.figures.get(self.field))
        if self.field:
            return self._named(facts)
        if any(value in facts.words for value in self.values):
            return True
        if facts.data is None:
            return None
        spoken = "\n".join(texts(json.loads(facts.data))).lower() if facts.data else ""
        return any(value in spoken for value in self.values)

    def _compared(self, figure: float | None) -> bool:
        """Of what is unknown, nothing holds."""
        if figure is None:
            return False
        match self.compare:
            case ">":
                return figure > self.number
            case "<":
                return figure < self.number
            case ">=":
                return figure >= self.number
            case "<=":
                return figure <= self.number
        return figure == self.number

    def means(self, name: str) -> bool:
        """Whether it asks for this name, or for one of several that are as it."""
        return any(fnmatchcase(name.lower(), _glob(value)) for value in self.values)

    def _named(self, facts: Facts) -> bool | None:
        match self.field:
            case "kind":
                return self._any((facts.kind,))
            case "author":
                return self._any(facts.names)
            case "tool":
                return self._any(facts.tools)
            case "branch":
                return self._any((facts.branch, *facts.branch.split(".")))
            case "is":
                return self._any(facts.marks)
        if facts.all_keys or self._any(facts.keys):
            return self._any(facts.keys)
        if facts.data is None:
            return None
        return self._any(_mapping(_mapping(json.loads(facts.data)).get("actions"), "stateDelta"))

    def _any(
        self, names: "Iterator[str] | tuple[str, ...] | frozenset[str] | Mapping[str, Any]"
    ) -> bool:
        return any(self.means(name) for name in names)


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter that was understood; all terms have to hold."""

    text: str
    terms: tuple[Term, ...]

    @classmethod
    def read(cls, text: str) -> Self:
        """What a person wrote; raises FilterError."""
        if len(text) > LONGEST:
            raise FilterError(f"a filter has at most {LONGEST} characters", LONGEST)
        return cls(" ".join(text.split()), tuple(_terms(text)))

    @property
    def phrases(self) -> tuple[str, ...]:
        """The words that are looked for in what events say."""
        return tuple(value for term in self.terms if not term.field for value in term.values)

    def means_key(self, name: str) -> bool:
        """Whether it asks for the state key of this name."""
        return any(term.field == "key" and term.means(name) for term in self.terms)

    def holds(self, facts: Facts) -> bool | None:
        """Whether all terms do; None: only the event's body tells."""
        undecided = False
        for term in self.terms:
            answer = term.holds(facts)
            if answer is False:
                return False
            undecided = undecided or answer is None
        return None if undecided else True


@dataclass(frozen=True, slots=True)
class Typed:
    """What somebody typed: a filter, nothing, or what is none and leaves nothing out."""

    text: str = ""
    filter: Filter | None = None
    error: str = ""

    @classmethod
    def read(cls, text: str | None) -> Self:
        """Whatever it is."""
        if not text or not text.strip():
            return cls()
        try:
            return cls(text, Filter.read(text))
        except FilterError as error:
            return cls(text, error=str(error))


NOTHING_TYPED: Final = Typed()


def texts(event: Mapping[str, Any]) -> Iterator[str]:
    """What an event says: its texts, its calls and results, its state, its errors, its ids."""
    actions = event.get("actions")
    for part in _mapping(event, "content").get("parts") or ():
        yield from _strings({k: v for k, v in part.items() if k not in _UNREAD})
    for value in (_mapping(actions, "stateDelta"), _mapping(actions, "artifactDelta")):
        yield from (*value, *_strings(value))
    for name in ("errorCode", "errorMessage", "output", "id", "invocationId"):
        yield from _strings(event.get(name))


_UNREAD: Final = frozenset({"inlineData", "thoughtSignature"})
"""Of a part, what nobody reads."""


def _terms(text: str) -> Iterator[Term]:
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        match = _TOKEN.match(text, place)
        if match is None:
            raise AssertionError("every part of the pattern may be empty")
        minus, name, compare, value = match.groups()
        place = match.end()
        yield _term(name or "", compare or "", value, minus=bool(minus), at=match.start())


def _term(name: str, compare: str, value: str, *, minus: bool, at: int) -> Term:
    name = name.lower()
    if not name:
        if not value:
            raise FilterError("a minus stands before what is to be left out: -partial", at)
        return Term("", (_unquoted(value).lower(),), minus)
    if name in FIGURES:
        return _figure(name, compare, value, minus=minus, at=at)
    if name not in FIELDS:
        fields = ", ".join(f"{each}:" for each, about in FIELDS.items() if about)
        figures = ", ".join(f"{each}>" for each in FIGURES)
        told = (
            f"there is no {name}{compare[:1]} among {fields}, {figures}; quote a text that has one"
        )
        raise FilterError(told, at)
    if compare != ":" or not value:
        raise FilterError(f"write {name}:NAME", at)
    values = (value,) if value.startswith('"') else tuple(filter(None, value.split(",")))
    wanted = tuple(_unquoted(each).lower() for each in values)
    _check(name, wanted, at)
    return Term("author" if name == _AGENT else name, wanted, minus)


def _figure(name: str, compare: str, value: str, *, minus: bool, at: int) -> Term:
    try:
        number = float(value)
    except ValueError:
        raise FilterError(f"write {name}>NUMBER, or <, >=, <=", at) from None
    return Term(name, (), minus, compare, number)


def _check(name: str, values: tuple[str, ...], at: int) -> None:
    """Whether there can be such values, where all of them are known."""
    known = {"kind": KINDS, "is": tuple(MARKS)}.get(name)
    for value in values if known else ():
        if not any(fnmatchcase(each, _glob(value)) for each in known or ()):
            raise FilterError(f"{name}:{value} is none of {', '.join(known or ())}", at)


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    inner = text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:]
    return re.sub(r"\\(.)", r"\1", inner)


def _glob(value: str) -> str:
    """`*` alone is special."""
    return re.sub(r"([\[?])", r"[\1]", value)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield json.dumps(value)


def _mapping(value: object, name: str = "") -> Mapping[str, Any]:
    found = value.get(name) if name and isinstance(value, Mapping) else value
    return found if isinstance(found, Mapping) else {}
