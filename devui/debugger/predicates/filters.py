"""The filter of a timeline: `author:planner kind:call -partial "time out" tokens>1000`.

Terms are separated by spaces, and all have to match. `name:value` matches the names of a field that
begin with the value. In quotes, or with `*` for any characters, it has to match a name as a whole;
`a,b` stands for either of two values. `name>number` compares a figure. A minus before a term
negates it. Anything else is searched for in the texts of the event. Case doesn't matter.

An expression, as in a condition, is a term if it is in parentheses and compares something or calls
a function: `kind:call (args.price > 500)`. A filter that compares with `==` or `!=` is one
expression as a whole: `args.city == "Rome"`. Anything that isn't an expression is searched for as
text, as it always was.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
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
from devui.debugger.predicates.facts import FACTS, FLAGS, BodyNeeded, Facts
from devui.store.summaries import KINDS, ROW_WORDS
from devui.store.tags import folded

LONGEST: Final = 1000
"""How many characters a filter may have."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of `name:value`."""

    about: str
    """Its description in the suggestions; "" for another name of the previous field."""
    names: Callable[[Facts], Iterable[str | None]]
    """Returns the values that an event has, with None for a missing one."""
    words: Collection[str] = ()
    """All possible values; () if they can't be listed."""


def _kind(facts: Facts) -> tuple[str | None, ...]:
    """Return the kind, and the word that rows have for it."""
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
"""The fields that can be compared with `:`."""
_SYNONYMS: Final = {("is", "failed"): "error"}
"""The values behind other words in rows, by field and word."""
TAG: Final = "tag"
"""The field that selects sessions by their tags, in searches and lists; events have none."""
FIGURES: Final = ("tokens", "cost", "seconds", "size")
"""The facts that can be compared as numbers."""
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"?'
_VALUE: Final = re.compile(rf"{_QUOTED}|[^,]+")
_VALUES: Final = rf"(?:{_QUOTED}|[^\s,]*)(?:,(?:{_QUOTED}|[^\s,]*))*"
_TOKEN: Final = re.compile(rf"(-?)(?:([A-Za-z]+)([:<>]=?))?((?(2){_VALUES}|(?:{_QUOTED}|\S*)))")


class FilterError(ValueError):
    """A filter that can't be parsed; `at` is the position of the error in its text."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, slots=True)
class WordTerm:
    """A term that asks for words: it matches if one of the patterns, in lower case, matches the
    field. The field "" is the whole event, where the patterns are plain texts."""

    field: str
    patterns: tuple[str, ...]
    names: frozenset[str] = frozenset()
    """The values as someone wrote them, without quotes and in lower case."""


@dataclass(frozen=True, slots=True)
class _Term:
    """One term of a filter, whose terms all have to match."""

    value: Value
    phrase: str = ""
    """The text that it searches for, in lower case."""
    keys: tuple[str, ...] = ()
    """The names of state keys that it compares."""
    facts: frozenset[str] = frozenset()
    """The facts that it uses, if it is an expression."""
    words: WordTerm | None = None
    """The words that every matching event has; None if that isn't known."""

    def negated(self) -> "_Term":
        """Return the term that matches all other events."""
        return replace(self, value=negated(self.value), words=None)


@dataclass(frozen=True, slots=True)
class Filter:
    """A parsed filter."""

    text: str
    _holds: Value = field(compare=False)
    phrases: tuple[str, ...]
    """The texts to search events for, in lower case; () if an expression uses `said`, too."""
    _keys: tuple[str, ...]
    words: tuple[WordTerm, ...] = ()
    """The words that every matching event has."""

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse what a person wrote. Raises FilterError."""
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
        """Whether the filter asks for the state key with this name."""
        return any(like(name.lower(), key) for key in self._keys)

    def holds(self, facts: Facts) -> bool | None:
        """Whether the event matches; None if only its body can tell."""
        try:
            return bool(self._holds(facts))
        except BodyNeeded:
            return None


@dataclass(frozen=True, slots=True)
class FilterInput:
    """What someone typed: a filter, nothing, or an invalid filter, which filters nothing out."""

    text: str = ""
    filter: Filter | None = None
    error: str = ""

    @classmethod
    def read(cls, text: str | None) -> Self:
        """Parse any text; an invalid filter sets `error`."""
        if not text or not text.strip():
            return cls()
        try:
            return cls(text, Filter.read(text))
        except FilterError as error:
            return cls(text, error=str(error))


NO_FILTER: Final = FilterInput()


@dataclass(frozen=True, slots=True)
class TagTerm:
    """A term `tag:name`: the session has a tag that one of the patterns matches, or has none."""

    patterns: tuple[str, ...]
    negated: bool

    def matches(self, tag: str) -> bool:
        """Whether one of the patterns matches a tag, given as `folded` returns it."""
        return any(like(tag, pattern) for pattern in self.patterns)


def split_tags(text: str) -> tuple[tuple[TagTerm, ...], str]:
    """Split off the terms `tag:name`, which select sessions; return them and the rest.

    The rest has spaces in their place, so that positions in it stay the same.
    """
    try:
        pieces = [each for _, each in _pieces(text) if isinstance(each, re.Match)]
    except FilterError:  # reading the rest reports it
        return (), text
    matches = [
        each for each in pieces if (each[2] or "").lower() == TAG and each[3] == ":" and each[4]
    ]
    for match in matches:
        text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
    terms = (TagTerm(tuple(map(_tag_pattern, _values(each[4]))), bool(each[1])) for each in matches)
    return tuple(terms), text


def _tag_pattern(value: str) -> str:
    return folded(_pattern(value))


def toggled(text: str, field: str, name: str) -> str:
    """Return the filter with `field:name`, or without it if it was there. The names of a field are
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
    new = exact(field, name)
    if not same:
        return f"{text.strip()} {field}:{new}".strip()
    return _instead(text, same[0], f"{field}:{','.join([*_values(same[0][4]), new])}")


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
    """Yield where each term begins, and the term: an expression in parentheses, or words."""
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
    """Return a term if the text is an expression with one of these operators or functions.

    Raises FilterError if it uses a fact that only breakpoints know.
    """
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
    if name == TAG and compare == ":" and value:
        raise FilterError(
            "sessions have tags, events don't: use tag: in the search or in a list of sessions",
            at,
        )
    if name not in FIELDS and name != TAG:
        raise FilterError(_unknown(name, compare[:1]), at)
    if compare != ":" or not value:
        raise FilterError(f"write {name}:NAME", at)
    values = _values(value)
    patterns = tuple(map(_pattern, values))
    if FIELDS[name].words:
        patterns = tuple(word for each in values for word in _words(name, each, at))
    keys = patterns if name == "key" else ()
    names = frozenset(_unquoted(each).lower() for each in values)
    words = WordTerm(name, patterns, names)
    return _Term(_names_match(FIELDS[name], patterns), keys=keys, words=words)


def _values(value: str) -> list[str]:
    """Return the values of `name:value`, as written."""
    return _VALUE.findall(value)


def _pattern(value: str) -> str:
    """Return the pattern of the names that a value matches."""
    text = _unquoted(value).lower()
    return text if value.startswith('"') or "*" in text else f"{text}*"


def _words(name: str, value: str, at: int) -> list[str]:
    """Return the words that a value matches, of a field whose words are known."""
    words, pattern = FIELDS[name].words, _pattern(value)
    matches = [word for word in words if like(word, pattern)]
    matches += [
        word for (where, other), word in _SYNONYMS.items() if where == name and like(other, pattern)
    ]
    if not matches:
        noun = "flag" if name == "is" else name
        text = _unquoted(value).lower()
        raise FilterError(f"Unknown {noun}: {text}. Use {', '.join(words)}", at)
    return matches


def _unknown(name: str, mark: str) -> str:
    fields = ", ".join(f"{each}:" for each, field in FIELDS.items() if field.about)
    figures = ", ".join(f"{each}>" for each in FIGURES)
    text = "a colon" if mark == ":" else mark
    return (
        f"Unknown field: {name}. Use {fields}, {figures}; to search for text with {text}, quote it"
    )


def _figure(name: str, compare: str, value: str, at: int) -> _Term:
    """Return a term that compares a figure; it matches no event whose figure is unknown."""
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
        except BodyNeeded as error:
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


def exact(field: str, name: str) -> str:
    """Return the value that matches this name alone, whatever other names there will be."""
    # No word of a field that lists its words begins with another one.
    return name if FIELDS[field].words else _in_quotes(name)


def quoted(name: str, shared: Collection[str]) -> str:
    """Return the value that matches this name alone, in quotes only if they are needed: `shared`
    are the `shared_beginnings` of its field."""
    is_odd = any(each.isspace() or each in ',"\\' for each in name)
    return _in_quotes(name) if is_odd or name.lower() in shared else name


def shared_beginnings(names: Iterable[str]) -> set[str]:
    """Return the names that other names begin with, in lower case."""
    order = sorted({name.lower() for name in names})
    return {name for name, following in pairwise(order) if following.startswith(name)}


def _in_quotes(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)
