"""The filter of a timeline: `author:planner kind:call -partial "time out" tokens>1000`.

Terms are parted by spaces, and all have to hold. `name:value` compares a field, `*` stands for
any letters, `a,b` for either; `name>number` compares a figure; a minus before a term turns it
round. Whatever else is written is looked for in what the event says. Upper and lower case are one.

An expression, as in a condition, is a term if it stands in parentheses and compares something, or
calls a function:
`kind:call (args.price > 500)`. A text that compares with `==` or `!=` is one as a whole:
`args.city == "Rome"`. Whatever isn't one is looked for as text, as it always was.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from devui.debugger.predicates.expressions import (
    FUNCTIONS,
    OPERATORS,
    ConditionError,
    Value,
    all_of,
    comparison,
    compiled,
    end_of_brackets,
    like,
    negated,
)
from devui.debugger.predicates.facts import FACTS, FLAGS, Facts, Unread
from devui.store.summaries import KINDS, ROW_WORDS

LONGEST: Final = 1000
"""Characters of a filter."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of `name:value`."""

    about: str
    """What it is, in the suggestions; "" for another name of the field before."""
    names: Callable[[Facts], Iterable[str | None]]
    """The values that an event has; None for nothing."""
    words: Collection[str] = ()
    """All values there are; () if they can't be listed."""


def _kind(facts: Facts) -> tuple[str | None, ...]:
    """The kind, and the word for it in the rows."""
    kind = facts.get("kind")
    return kind, ROW_WORDS.get(kind)


def _author(facts: Facts) -> tuple[str | None, ...]:
    return facts.get("agent"), facts.get("node")


def _branch(facts: Facts) -> tuple[str, ...]:
    branch = facts.get("branch") or ""
    return branch, *branch.split(".")


FIELDS: Final[Mapping[str, Field]] = {
    "kind": Field("event kind", _kind, (*KINDS, *ROW_WORDS.values())),
    "is": Field("flag, such as error or starred", lambda facts: facts.get("flags") or (), FLAGS),
    "author": Field("author", _author),
    "agent": Field("", _author),
    "tool": Field("tool called or answering", lambda facts: facts.get("tools") or ()),
    "key": Field("state key changed", lambda facts: facts.get("keys") or ()),
    "branch": Field("parallel branch", _branch),
}
"""What can be compared with `:`."""
_SYNONYMS: Final = {("is", "failed"): "error"}
"""What rows say in other words, by the field."""
FIGURES: Final = ("tokens", "cost", "seconds", "size")
"""The facts that can be compared as numbers."""
_TOKEN: Final = re.compile(r'(-?)(?:([A-Za-z]+)([:<>]=?))?("(?:[^"\\]|\\.)*"?|\S*)')


class FilterError(ValueError):
    """A filter that cannot be read; `at` is where in its text."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, slots=True)
class WordTerm:
    """A term that asks for words: some of these patterns, in lower case, are in the field; "" is
    the whole event, where they are no patterns but texts."""

    field: str
    patterns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Term:
    """One of the terms, of which all have to hold."""

    value: Value
    phrase: str = ""
    """The text that it looks for, in lower case."""
    keys: tuple[str, ...] = ()
    """The names of state keys that it compares."""
    facts: frozenset[str] = frozenset()
    """What it speaks of, if it is an expression."""
    words: WordTerm | None = None
    """What events have in any case that it lets through; None if that can't be told."""

    def negated(self) -> "_Term":
        """What lets the others through."""
        return replace(self, value=negated(self.value), words=None)


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter that was understood."""

    text: str
    _holds: Value = field(compare=False)
    phrases: tuple[str, ...]
    """What is looked for in the words of events, in lower case; () if it asks for more of them."""
    _keys: tuple[str, ...]
    words: tuple[WordTerm, ...] = ()
    """What all events have that it lets through."""

    @classmethod
    def read(cls, text: str) -> Self:
        """What a person wrote; raises FilterError."""
        if len(text) > LONGEST:
            raise FilterError(f"a filter has at most {LONGEST} characters", LONGEST)
        whole = _expression(text, 0, {"==", "!="})
        terms = [*_terms(text)] if whole is None else [whole]
        phrases = [term.phrase for term in terms if term.phrase]
        keys = [key for term in terms for key in term.keys]
        facts = frozenset[str]().union(*(term.facts for term in terms))
        return cls(
            text.strip(),
            all_of([term.value for term in terms]),
            () if "said" in facts else tuple(phrases),
            ("*",) if "keys" in facts else tuple(keys),
            tuple(term.words for term in terms if term.words),
        )

    def means_key(self, name: str) -> bool:
        """Whether it asks for the state key of this name."""
        return any(like(name.lower(), key) for key in self._keys)

    def holds(self, facts: Facts) -> bool | None:
        """Whether the event is let through; None: only its body tells."""
        try:
            return bool(self._holds(facts))
        except Unread:
            return None


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


def toggled(text: str, field: str, name: str) -> str:
    """The filter with `field:name`, or without it if it has that; the names of a field are
    alternatives, as in `kind:call,result`. Raises FilterError."""
    if _expression(text, 0, {"==", "!="}) is not None:
        text = f"({text.strip()})"
    terms = [piece for _, piece in _pieces(text) if isinstance(piece, re.Match)]
    same = [each for each in terms if not each[1] and (each[2] or "").lower() == field]
    for term in same:
        names = _values(term[4])
        if name.lower() in (_unquoted(each).lower() for each in names):
            rest = [each for each in names if _unquoted(each).lower() != name.lower()]
            return _instead(text, term, f"{field}:{','.join(rest)}" if rest else "")
    new = quoted(name)
    if not same:
        return f"{text.strip()} {field}:{new}".strip()
    names = [] if '"' in same[0][4] + new else _values(same[0][4])  # quoted names stand alone
    return _instead(text, same[0], f"{field}:{','.join([*names, new])}")


def _instead(text: str, term: re.Match[str], new: str) -> str:
    return " ".join(filter(None, (text[: term.start()].strip(), new, text[term.end() :].strip())))


def _terms(text: str) -> Iterator[_Term]:
    for place, piece in _pieces(text):
        minus = text[place] == "-"
        if isinstance(piece, _Term):
            yield piece.negated() if minus else piece
            continue
        _, name, compare, value = piece.groups()
        term = _term((name or "").lower(), compare or "", value, at=place)
        yield term.negated() if minus else term


def _pieces(text: str) -> Iterator[tuple[int, _Term | re.Match[str]]]:
    """Where each term begins, and what it is: an expression in parentheses, or words."""
    place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        minus = text[place] == "-"
        if end := end_of_brackets(text, place + minus):
            term = _expression(text[place + minus : end], place + minus)
            if term is not None:
                yield place, term
                place = end
                continue
        match = _TOKEN.match(text, place)
        if match is None:
            raise AssertionError("every part of the pattern may be empty")
        yield place, match
        place = match.end()


def _expression(
    text: str,
    at: int,
    operators: Collection[str] = (*OPERATORS, *FUNCTIONS),
) -> _Term | None:
    """A term that is an expression with one of these operators or functions; None if it is none."""
    try:
        condition = compiled(text, FACTS)
    except ConditionError:
        return None
    if condition.operators.isdisjoint(operators):
        return None
    for name in sorted(condition.names):
        if FACTS[name].only == "gate":
            raise FilterError(
                f"a filter can't use {name}, which only breakpoints know; to search for this text, "
                "quote it",
                at,
            )
    return _Term(condition.value, facts=condition.names)


def _term(name: str, compare: str, value: str, *, at: int) -> _Term:
    if not name:
        if not value:
            raise FilterError("put a term after the minus, such as -partial", at)
        phrase = _unquoted(value).lower()
        return _Term(_contains(phrase), phrase, words=WordTerm("", (phrase,)))
    if name in FIGURES:
        return _figure(name, compare, value, at)
    if name not in FIELDS:
        raise FilterError(_unknown(name, compare[:1]), at)
    if compare != ":" or not value:
        raise FilterError(f"write {name}:NAME", at)
    patterns = tuple(_unquoted(each).lower() for each in _values(value))
    patterns = tuple(_SYNONYMS.get((name, each), each) for each in patterns)
    words = FIELDS[name].words
    for each in patterns if words else ():
        if not any(like(one, each) for one in words):
            noun = "flag" if name == "is" else name
            raise FilterError(f"unknown {noun} {each!r}. Use {', '.join(words)}", at)
    keys = patterns if name == "key" else ()
    return _Term(_names_match(FIELDS[name], patterns), keys=keys, words=WordTerm(name, patterns))


def _values(value: str) -> list[str]:
    """The names of `name:value`, as they are written."""
    return [value] if value.startswith('"') else [*filter(None, value.split(","))]


def _unknown(name: str, mark: str) -> str:
    fields = ", ".join(f"{each}:" for each, field in FIELDS.items() if field.about)
    figures = ", ".join(f"{each}>" for each in FIGURES)
    text = "a colon" if mark == ":" else mark
    return (
        f"unknown field {name}{mark}. Use {fields}, {figures}; to search for text with {text}, "
        "quote it"
    )


def _figure(name: str, compare: str, value: str, at: int) -> _Term:
    """Of a figure that is unknown, nothing holds."""
    try:
        number = float(value)
    except ValueError:
        raise FilterError(f"write {name}>NUMBER, or <, >=, <=", at) from None
    operator = compare if compare in {"<", "<=", ">", ">="} else "=="
    return _Term(comparison(operator, lambda facts: facts.get(name), lambda _: number))


def _names_match(field: Field, patterns: tuple[str, ...]) -> Value:
    def match(names: Iterable[str | None]) -> bool:
        lower = [name.lower() for name in names if name is not None]
        return any(like(name, pattern) for pattern in patterns for name in lower)

    def holds(facts: Facts) -> bool:
        try:
            return match(field.names(facts))
        except Unread as error:
            if match(error.part):
                return True
            raise

    return holds


def _contains(phrase: str) -> Value:
    return lambda facts: any(phrase in (facts.get(name) or "") for name in ("row", "said"))


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    inner = text[1:-1] if len(text) > 1 and text.endswith('"') else text[1:]
    return re.sub(r"\\(.)", r"\1", inner)


def quoted(name: str) -> str:
    """A name as a filter takes it."""
    plain = not any(each.isspace() or each in ',"\\' for each in name)
    return name if plain else json.dumps(name, ensure_ascii=False)
