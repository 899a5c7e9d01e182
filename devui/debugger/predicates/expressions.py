"""The expressions of conditions, log lines and filters: what they say of the facts of an event.

    state.budget < 100 and tool like "book_*"
    new > old or len(new) > 10 and "error" in lower(text)

An expression is compiled once and evaluated often. Evaluation always ends: there are no loops,
definitions or regular expressions. A name or key that does not exist is null; values that cannot be
compared are neither less, greater nor equal. The one thing that evaluation raises is `Unread`, for
facts that an event's body has: where `and` and `or` are decided without them, they are not needed.
A text that cannot be compiled raises `ConditionError` with the column.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from devui.debugger.predicates.facts import FACTS, RUN, Facts, Unread

Value = Callable[[Facts], Any]
"""Evaluates an expression. Raises Unread."""

MAX_DEPTH = 40
"""Brackets within brackets."""

NAMES: Final = tuple(name for name, fact in FACTS.items() if fact.only != "filter")
"""The names that a condition may begin a path with."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled condition."""

    source: str
    names: frozenset[str]
    """What it speaks of."""
    operators: frozenset[str]
    """What it compares with, and the functions that it calls."""
    value: Value = field(compare=False)
    """What the text says of some facts."""

    def holds(self, facts: Facts) -> bool:
        """Whether the value is neither null, false, 0 nor empty. Raises Unread."""
        return bool(self.value(facts))


def compiled(source: str, names: Iterable[str] = NAMES) -> Condition:
    """Compile a condition about facts of these names; raises ConditionError with the place of what
    is wrong."""
    parser = _Parser(source, tuple(names))
    value = parser.whole()
    return Condition(source, frozenset(parser.names), frozenset(parser.operators), value)


def quoted(text: str) -> str:
    """A text as an expression has it."""
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def similar(*, kind: str | None, agent: str | None, tool: str | None) -> str:
    """A condition on similar events: of this kind, author and tool; what is None doesn't matter."""
    names = {"kind == {}": kind, "agent == {}": agent, "{} in tools": tool}
    tests = [test.format(quoted(name)) for test, name in names.items() if name is not None]
    return " and ".join(tests) or "true"


# --- tokens ---------------------------------------------------------------------------------


MAX_LENGTH = 1000
"""Characters of a condition."""

_KEYWORDS = {"and", "or", "not", "in", "like"}
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None}
_ESCAPES = {"n": "\n", "t": "\t"}
_WORD = re.compile(
    r"""\s*(?:
        (?P<number>\d{1,18}(?:\.\d{1,18})?)
      | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
      | (?P<name>[^\W\d]\w*)
      | (?P<mark>==|!=|<=|>=|[<>()\[\],.\-])
      | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class ConditionError(ValueError):
    """A text that is no condition; `at` is where, in characters from 0."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(f"column {at + 1}: {message}")
        self.message = message
        self.at = at

    def offset_by(self, by: int) -> "ConditionError":
        """The same of a text in which this one begins so many characters later."""
        return ConditionError(self.message, self.at + by)


@dataclass(frozen=True, slots=True)
class Word:
    kind: Literal["number", "text", "name", "mark", "constant", "end"]
    """Keywords are marks."""
    text: str
    at: int
    value: Any = None
    """Of a number, a text or a constant."""


def words(source: str) -> list[Word]:
    """The words of a text, the last of kind `end`; raises ConditionError at the first odd one."""
    words: list[Word] = []
    at = 0
    while not words or words[-1].kind != "end":
        match = _WORD.match(source, at)
        if match is None:
            at += len(source[at:]) - len(source[at:].lstrip())
            raise ConditionError(_odd(source[at : at + 2]), at)
        words.append(_word(match))
        at = match.end()
    return words


def end_of_brackets(source: str, start: int) -> int:
    """Where the parentheses end that open at a place; 0 if none do, or if they are no word of
    their own."""
    depth, at = 0, start
    while at < len(source) and (depth or at == start):
        match = _WORD.match(source, at)
        if match is None or match.lastgroup == "end":
            return 0
        depth += {"(": 1, ")": -1}.get(match[match.lastgroup or 0], 0)
        if not depth and (at == start and source[at] != "("):
            return 0
        at = match.end()
    is_word = at == len(source) or source[at].isspace()
    return at if depth == 0 and is_word and at > start else 0


def _word(match: re.Match[str]) -> Word:
    kind = str(match.lastgroup)
    text, at = match[kind], match.start(kind)
    if kind == "number":
        return Word("number", text, at, float(text) if "." in text else int(text))
    if kind == "text":
        value = _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), text[1:-1])
        return Word("text", text, at, value)
    if kind == "name" and text in _CONSTANTS:
        return Word("constant", text, at, _CONSTANTS[text])
    if kind == "name" and text not in _KEYWORDS:
        return Word("name", text, at)
    return Word("end" if kind == "end" else "mark", text, at)


_MISSPELLED: Final = {"=>": ">=", "=<": "<="}


def _odd(begins: str) -> str:
    """What is wrong with a place where no word begins, given its first two characters."""
    if begins[0] in "\"'":
        return "unterminated string"
    if begins[0] == "=":
        return f"compare with {_MISSPELLED.get(begins, '==')}"
    return f"unexpected {begins[0]!r}"


# --- grammar --------------------------------------------------------------------------------


class _Parser:
    """Recursive descent; each method takes one construct and returns how to evaluate it."""

    def __init__(self, source: str, names: Sequence[str]) -> None:
        if len(source) > MAX_LENGTH:
            raise ConditionError(f"longer than {MAX_LENGTH} characters", MAX_LENGTH)
        self._words = words(source)
        self._next = 0
        self._depth = 0
        self._names = names
        self.names: set[str] = set()
        self.operators: set[str] = set()

    @property
    def _word(self) -> Word:
        return self._words[self._next]

    def _take(self, *texts: str) -> Word | None:
        """The next word if it is one of these operators or keywords."""
        word = self._word
        if word.kind != "mark" or word.text not in texts:
            return None
        self._next += 1
        return word

    def _need(self, text: str) -> None:
        if self._take(text) is None:
            raise self._wrong(f"expected {text!r}")

    def _wrong(self, what: str) -> ConditionError:
        actual = f"found {self._word.text!r}" if self._word.kind != "end" else "found the end"
        return ConditionError(f"{what}, {actual}", self._word.at)

    def whole(self) -> Value:
        value = self._or()
        if self._word.kind != "end":
            raise self._wrong("expected an operator")
        return value

    def _or(self) -> Value:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ConditionError(f"nested deeper than {MAX_DEPTH}", self._word.at)
        parts = [self._and()]
        while self._take("or"):
            parts.append(self._and())
        self._depth -= 1
        return any_of(parts)

    def _and(self) -> Value:
        parts = [self._not()]
        while self._take("and"):
            parts.append(self._not())
        return all_of(parts)

    def _not(self) -> Value:
        count = 0
        while self._take("not"):
            count += 1
        value = self._comparison()
        for _ in range(2 - count % 2 if count else 0):
            value = negated(value)
        return value

    def _comparison(self) -> Value:
        left = self._value()
        is_not = self._take("not") is not None
        operator = self._take("in", "like", *(() if is_not else _COMPARISONS))
        if operator is None:
            if is_not:
                raise self._wrong("expected 'in' or 'like' after 'not'")
            return left
        self.operators.add(operator.text)
        holds = comparison(operator.text, left, self._value())
        return negated(holds) if is_not else holds

    def _value(self) -> Value:
        if self._take("("):
            value = self._or()
            self._need(")")
        elif self._take("["):
            value = _list(self._items("]"))
        elif self._word.kind == "name":
            value = self._name()
        else:
            return self._literal()
        return self._steps(value)

    def _items(self, end: str) -> list[Value]:
        items: list[Value] = []
        while not self._take(end):
            if items:
                self._need(",")
            items.append(self._or())
        return items

    def _literal(self) -> Value:
        sign = self._take("-")
        word = self._word
        if word.kind not in ({"number"} if sign else {"number", "text", "constant"}):
            raise self._wrong("expected a value")
        self._next += 1
        return _constant(-word.value if sign else word.value)

    def _name(self) -> Value:
        word = self._word
        self._next += 1
        if self._take("("):
            function = FUNCTIONS.get(word.text)
            if function is None:
                options = ", ".join(sorted(FUNCTIONS))
                raise ConditionError(
                    f"unknown function {word.text!r}; use one of {options}", word.at
                )
            arguments = self._items(")")
            if len(arguments) != 1:
                raise ConditionError(f"{word.text}() takes one value", word.at)
            self.operators.add(word.text)
            return _call(function, arguments[0])
        if word.text not in self._names:
            options = ", ".join(self._names)
            raise ConditionError(f"unknown name {word.text!r}; use one of {options}", word.at)
        self.names.add(word.text)
        if word.text == "run":
            self._check_run()
        return _fact(word.text)

    def _check_run(self) -> None:
        """A limit on something that isn't counted would never be reached."""
        if self._word.text != "." or self._word.kind != "mark":
            return
        name = self._words[self._next + 1]
        if name.kind == "name" and name.text not in RUN:
            raise ConditionError(f"unknown run.{name.text}; use one of {', '.join(RUN)}", name.at)

    def _steps(self, value: Value) -> Value:
        """The path behind a value: `.name` and `[…]`, any number of them."""
        while mark := self._take(".", "["):
            if mark.text == "[":
                value = _member(value, self._or())
                self._need("]")
            elif self._word.kind in {"name", "mark", "constant"} and self._word.text.isidentifier():
                value = _member(value, _constant(self._word.text))
                self._next += 1
            else:
                raise self._wrong("expected a name after '.'")
        return value


# --- evaluation ----------------------------------------------------------------------------


def _constant(value: Any) -> Value:
    return lambda _: value


def _fact(name: str) -> Value:
    return lambda facts: facts.get(name)


def any_of(parts: Sequence[Value]) -> Value:
    """Whether one of them holds."""
    return _decision(parts, by=True)


def all_of(parts: Sequence[Value]) -> Value:
    """Whether all of them hold."""
    return _decision(parts, by=False)


def _decision(parts: Sequence[Value], *, by: bool) -> Value:
    """One part may decide, whatever others would say that can't be told yet."""
    if len(parts) == 1:
        return parts[0]

    def decide(facts: Facts) -> bool:
        undecided: Unread | None = None
        for part in parts:
            try:
                if bool(part(facts)) is by:
                    return by
            except Unread as error:
                undecided = error
        if undecided is not None:
            raise undecided
        return not by

    return decide


def negated(value: Value) -> Value:
    """Whether it does not hold."""
    return lambda facts: not value(facts)


def comparison(operator: str, left: Value, right: Value) -> Value:
    """A comparison with one of the operators."""
    holds = OPERATORS[operator]
    return lambda facts: holds(left(facts), right(facts))


def _list(items: list[Value]) -> Value:
    return lambda facts: [item(facts) for item in items]


def _call(function: Callable[[Any], Any], argument: Value) -> Value:
    return lambda facts: function(argument(facts))


def _member(value: Value, key: Value) -> Value:
    def look(facts: Facts) -> Any:
        container, name = value(facts), key(facts)
        if isinstance(container, Mapping) and isinstance(name, str):
            return container.get(name)
        if isinstance(container, list | tuple) and isinstance(name, int):
            return container[name] if -len(container) <= name < len(container) else None
        return None

    return look


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    try:
        return bool(left == right)
    except RecursionError:  # nested deeper than Python can compare
        return False


def _ordering(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def both(left: Any, right: Any) -> bool:
        if isinstance(left, str) and isinstance(right, str):
            return compare(left, right)
        return _is_number(left) and _is_number(right) and compare(left, right)

    return both


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _within(item: Any, container: Any) -> bool:
    if isinstance(container, list | tuple):
        return any(_equal(item, each) for each in container)
    return isinstance(item, str) and isinstance(container, str | Mapping) and item in container


def like(text: Any, pattern: Any) -> bool:
    """Whether the text has the form of the pattern, where `*` stands for anything."""
    if not (isinstance(text, str) and isinstance(pattern, str)):
        return False
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    last = rest.pop()
    end = len(text) - len(last)
    if not (text.startswith(first) and text.endswith(last) and len(first) <= end):
        return False
    at = len(first)
    for piece in rest:
        place = text.find(piece, at, end)
        if place < 0:
            return False
        at = place + len(piece)
    return True


OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _ordering(lambda left, right: left < right),
    "<=": _ordering(lambda left, right: left <= right),
    ">": _ordering(lambda left, right: left > right),
    ">=": _ordering(lambda left, right: left >= right),
    "in": _within,
    "like": like,
}
_COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "len": lambda value: len(value) if isinstance(value, str | list | tuple | Mapping) else None,
    "lower": lambda value: value.lower() if isinstance(value, str) else None,
    "exists": lambda value: value is not None,
}
