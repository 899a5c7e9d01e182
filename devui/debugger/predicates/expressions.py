"""The expressions over the facts of an event, in conditions, log lines and filters.

    state.budget < 100 and tool like "book_*"
    new > old or len(new) > 10 and "error" in lower(text)

An expression is compiled once and evaluated often. Evaluation always ends: there are no loops,
definitions or regular expressions. A fact without a value and a missing key are null; values that
can't be compared are neither less, greater nor equal. Evaluation raises nothing but `BodyNeeded`,
for facts in a body that hasn't been read, and not if `and` or `or` can be decided without them.
Text that can't be compiled raises `ConditionError` with the column.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from devui.debugger.predicates.facts import FACTS, RUN, BodyNeeded, Facts

Value = Callable[[Facts], Any]
"""Evaluates an expression. Raises BodyNeeded."""

MAX_DEPTH = 40
"""How deep brackets may be nested."""

NAMES: Final = tuple(name for name, fact in FACTS.items() if fact.only != "filter")
"""The names that a path in a condition may begin with."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled condition."""

    source: str
    names: frozenset[str]
    """The facts that it uses."""
    operators: frozenset[str]
    """The comparison operators and functions that it uses."""
    value: Value = field(compare=False)
    """Evaluates it."""

    def holds(self, facts: Facts) -> bool:
        """Whether the value is not null, false, 0 or empty. Raises BodyNeeded."""
        return bool(self.value(facts))


def compiled(source: str, names: Iterable[str] = NAMES) -> Condition:
    """Compile a condition that may use the facts with these names.

    Raises ConditionError with the position of the error.
    """
    parser = _Parser(source, tuple(names))
    value = parser.whole()
    return Condition(source, frozenset(parser.names), frozenset(parser.operators), value)


def quoted(text: str) -> str:
    """Return a text as a string literal of an expression."""
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def similar(*, kind: str | None, agent: str | None, tool: str | None) -> str:
    """Return a condition for events with this kind, author and tool; None matches anything."""
    names = {"kind == {}": kind, "agent == {}": agent, "{} in tools": tool}
    tests = [test.format(quoted(name)) for test, name in names.items() if name is not None]
    return " and ".join(tests) or "true"


# --- tokens ---------------------------------------------------------------------------------


MAX_LENGTH = 1000
"""How many characters a condition may have."""

_KEYWORDS = {"and", "or", "not", "in", "like"}
_CONSTANTS: dict[str, Any] = {"true": True, "false": False, "null": None}
_ESCAPES = {"n": "\n", "t": "\t"}
_TOKEN = re.compile(
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
    """A text that isn't a valid condition; `at` is the position of the error, from 0."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(f"column {at + 1}: {message}")
        self.message = message
        self.at = at

    def offset_by(self, by: int) -> "ConditionError":
        """Return the error for a longer text, in which this one begins at the character `by`."""
        return ConditionError(self.message, self.at + by)


@dataclass(frozen=True, slots=True)
class Token:
    kind: Literal["number", "text", "name", "mark", "constant", "end"]
    """Keywords have the kind `mark`."""
    text: str
    at: int
    value: Any = None
    """The value of a number, a text or a constant."""


def tokenize(source: str) -> list[Token]:
    """Split a text into tokens, the last of kind `end`.

    Raises ConditionError where no token begins.
    """
    tokens: list[Token] = []
    at = 0
    while not tokens or tokens[-1].kind != "end":
        match = _TOKEN.match(source, at)
        if match is None:
            at += len(source[at:]) - len(source[at:].lstrip())
            raise ConditionError(_odd(source[at : at + 2]), at)
        tokens.append(_token(match))
        at = match.end()
    return tokens


def end_of_brackets(source: str, start: int) -> int:
    """Return where the parentheses that open at `start` end.

    0 if none open there, if they don't close, or if other characters directly follow them.
    """
    depth, at = 0, start
    while at < len(source) and (depth or at == start):
        match = _TOKEN.match(source, at)
        if match is None or match.lastgroup == "end":
            return 0
        depth += {"(": 1, ")": -1}.get(match[match.lastgroup or 0], 0)
        if not depth and (at == start and source[at] != "("):
            return 0
        at = match.end()
    stands_alone = at == len(source) or source[at].isspace()
    return at if depth == 0 and stands_alone and at > start else 0


def _token(match: re.Match[str]) -> Token:
    kind = str(match.lastgroup)
    text, at = match[kind], match.start(kind)
    if kind == "number":
        return Token("number", text, at, float(text) if "." in text else int(text))
    if kind == "text":
        value = _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), text[1:-1])
        return Token("text", text, at, value)
    if kind == "name" and text in _CONSTANTS:
        return Token("constant", text, at, _CONSTANTS[text])
    if kind == "name" and text not in _KEYWORDS:
        return Token("name", text, at)
    return Token("end" if kind == "end" else "mark", text, at)


_MISSPELLED: Final = {"=>": ">=", "=<": "<="}


def _odd(begins: str) -> str:
    """Return what is wrong where no token begins, given the first two characters there."""
    if begins[0] in "\"'":
        return "unterminated string"
    if begins[0] == "=":
        return f"compare with {_MISSPELLED.get(begins, '==')}"
    return f"unexpected {begins[0]!r}"


# --- grammar --------------------------------------------------------------------------------


class _Parser:
    """A recursive descent parser: each method parses one construct and returns its `Value`."""

    def __init__(self, source: str, names: Sequence[str]) -> None:
        if len(source) > MAX_LENGTH:
            raise ConditionError(f"longer than {MAX_LENGTH} characters", MAX_LENGTH)
        self._tokens = tokenize(source)
        self._next = 0
        self._depth = 0
        self._names = names
        self.names: set[str] = set()
        self.operators: set[str] = set()

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _take(self, *texts: str) -> Token | None:
        """Take the next token, if it is one of these operators or keywords."""
        token = self._token
        if token.kind != "mark" or token.text not in texts:
            return None
        self._next += 1
        return token

    def _need(self, text: str) -> None:
        if self._take(text) is None:
            raise self._wrong(f"expected {text!r}")

    def _wrong(self, what: str) -> ConditionError:
        actual = f"found {self._token.text!r}" if self._token.kind != "end" else "found the end"
        return ConditionError(f"{what}, {actual}", self._token.at)

    def whole(self) -> Value:
        value = self._or()
        if self._token.kind != "end":
            raise self._wrong("expected an operator")
        return value

    def _or(self) -> Value:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ConditionError(f"nested deeper than {MAX_DEPTH}", self._token.at)
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
        elif self._token.kind == "name":
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
        token = self._token
        if token.kind not in ({"number"} if sign else {"number", "text", "constant"}):
            raise self._wrong("expected a value")
        self._next += 1
        return _constant(-token.value if sign else token.value)

    def _name(self) -> Value:
        token = self._token
        self._next += 1
        if self._take("("):
            function = FUNCTIONS.get(token.text)
            if function is None:
                options = ", ".join(sorted(FUNCTIONS))
                raise ConditionError(
                    f"unknown function {token.text!r}; use one of {options}", token.at
                )
            arguments = self._items(")")
            if len(arguments) != 1:
                raise ConditionError(f"{token.text}() takes one value", token.at)
            self.operators.add(token.text)
            return _call(function, arguments[0])
        if token.text not in self._names:
            options = ", ".join(self._names)
            raise ConditionError(f"unknown name {token.text!r}; use one of {options}", token.at)
        self.names.add(token.text)
        if token.text == "run":
            self._check_run()
        return _fact(token.text)

    def _check_run(self) -> None:
        """Refuse an unknown member of `run`, since a limit on it would never be reached."""
        if self._token.text != "." or self._token.kind != "mark":
            return
        name = self._tokens[self._next + 1]
        if name.kind == "name" and name.text not in RUN:
            raise ConditionError(f"unknown run.{name.text}; use one of {', '.join(RUN)}", name.at)

    def _steps(self, value: Value) -> Value:
        """Parse the path after a value: any number of `.name` and `[…]`."""
        while mark := self._take(".", "["):
            if mark.text == "[":
                value = _member(value, self._or())
                self._need("]")
            elif (
                self._token.kind in {"name", "mark", "constant"} and self._token.text.isidentifier()
            ):
                value = _member(value, _constant(self._token.text))
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
    """Return an expression that holds if one of the parts does."""
    return _decision(parts, by=True)


def all_of(parts: Sequence[Value]) -> Value:
    """Return an expression that holds if all parts do."""
    return _decision(parts, by=False)


def _decision(parts: Sequence[Value], *, by: bool) -> Value:
    """Combine the parts; a part equal to `by` decides even if others can't be evaluated yet."""
    if len(parts) == 1:
        return parts[0]

    def decide(facts: Facts) -> bool:
        undecided: BodyNeeded | None = None
        for part in parts:
            try:
                if bool(part(facts)) is by:
                    return by
            except BodyNeeded as error:
                undecided = error
        if undecided is not None:
            raise undecided
        return not by

    return decide


def negated(value: Value) -> Value:
    """Return an expression that holds if `value` doesn't."""
    return lambda facts: not value(facts)


def comparison(operator: str, left: Value, right: Value) -> Value:
    """Return a comparison with one of the `OPERATORS`."""
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
    """Whether the text matches the pattern, in which `*` stands for any characters."""
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
