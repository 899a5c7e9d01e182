"""The language of breakpoint conditions: comparisons over what is held, and nothing that acts.

    state.budget < 100 and tool like "book_*"
    new > old or len(new) > 10 and "error" in lower(text)

A condition is compiled once and evaluated often. Evaluation never raises and always ends: there are
no loops, no definitions and no regular expressions; what is not there is null; values that cannot
be compared are not less, not greater and not equal. A wrong text is refused with its place.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from devui.debugger.breakpoints.condition_words import MAX_LENGTH, ConditionError, Word, words

Facts = Mapping[str, Any]
"""What a condition may speak of: JSON values by name."""

_Value = Callable[[Facts], Any]

MAX_DEPTH = 40
"""Brackets within brackets."""

NAMES: dict[str, str] = {
    "gate": "the gate, such as before_commit",
    "kind": "the event's kind, such as call or text",
    "agent": "the agent at work; of an event its author",
    "branch": "the branch, null outside of parallel agents",
    "text": "the event in one line",
    "final": "whether the event is a final response",
    "tool": "the tool that is called or has answered, the first of several",
    "tools": "all of them",
    "args": "the arguments of `tool`",
    "result": "what `tool` returned",
    "key": "of a state breakpoint: the key that is written",
    "old": "of a state breakpoint: its value before",
    "new": "of a state breakpoint: its value after",
    "delta": "what the event writes to the state, by key",
    "state": "the committed state, by key with its prefix",
    "artifacts": "names of the files that the event says were saved",
    "transfer": "the agent that takes over",
    "escalate": "whether the event leaves a loop",
    "error": "the event's error code",
    "tokens": "tokens that the model counted for the event",
    "held": "all that is held: event, request, response, arguments, result",
    "run": "what the run has used so far",
}
"""The names that a condition may begin a path with, and what they mean."""

RUN: dict[str, str] = {
    "events": "its events",
    "answers": "answers of models",
    "calls": "calls of tools",
    "tokens": "tokens that the models counted",
    "cost": "US dollars, as far as prices are known; null: none is",
    "unpriced": "answers whose price is unknown",
    "seconds": "seconds, without those that it was held",
    "repeats": "how often in a row the same tool calls were made with the same arguments",
}
"""What there is of `run`."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled condition."""

    source: str
    names: frozenset[str]
    """What it speaks of."""
    _evaluate: _Value

    def value(self, facts: Facts) -> Any:
        """What the text says of these facts; never raises."""
        return self._evaluate(facts)

    def holds(self, facts: Facts) -> bool:
        """Whether the value is neither null, false, 0 nor empty."""
        return bool(self._evaluate(facts))


def compiled(source: str) -> Condition:
    """Compile a condition; raises ConditionError with the place of what is wrong."""
    parser = _Parser(source)
    value = parser.whole()
    return Condition(source, frozenset(parser.names), value)


class _Parser:
    """Recursive descent; each method takes one construct and returns how to evaluate it."""

    def __init__(self, source: str) -> None:
        if len(source) > MAX_LENGTH:
            raise ConditionError(f"longer than {MAX_LENGTH} characters", MAX_LENGTH)
        self._words = words(source)
        self._next = 0
        self._depth = 0
        self.names: set[str] = set()

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
        found = f"found {self._word.text!r}" if self._word.kind != "end" else "found the end"
        return ConditionError(f"{what}, {found}", self._word.at)

    def whole(self) -> _Value:
        value = self._or()
        if self._word.kind != "end":
            raise self._wrong("expected an operator")
        return value

    def _or(self) -> _Value:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ConditionError(f"nested deeper than {MAX_DEPTH}", self._word.at)
        parts = [self._and()]
        while self._take("or"):
            parts.append(self._and())
        self._depth -= 1
        return parts[0] if len(parts) == 1 else _any_of(parts)

    def _and(self) -> _Value:
        parts = [self._not()]
        while self._take("and"):
            parts.append(self._not())
        return parts[0] if len(parts) == 1 else _all_of(parts)

    def _not(self) -> _Value:
        count = 0
        while self._take("not"):
            count += 1
        value = self._comparison()
        return value if count == 0 else _negated(value, twice=count % 2 == 0)

    def _comparison(self) -> _Value:
        left = self._value()
        is_not = self._take("not") is not None
        operator = self._take("in", "like", *(() if is_not else _COMPARISONS))
        if operator is None:
            if is_not:
                raise self._wrong("expected 'in' or 'like' after 'not'")
            return left
        compared = _compared(_OPERATORS[operator.text], left, self._value())
        return _negated(compared, twice=False) if is_not else compared

    def _value(self) -> _Value:
        if self._take("("):
            value = self._or()
            self._need(")")
        elif self._take("["):
            value = _listed(self._items("]"))
        elif self._word.kind == "name":
            value = self._named()
        else:
            return self._literal()
        return self._steps(value)

    def _items(self, end: str) -> list[_Value]:
        items: list[_Value] = []
        while not self._take(end):
            if items:
                self._need(",")
            items.append(self._or())
        return items

    def _literal(self) -> _Value:
        sign = self._take("-")
        word = self._word
        if word.kind not in ({"number"} if sign else {"number", "text", "constant"}):
            raise self._wrong("expected a value")
        self._next += 1
        return _constant(-word.value if sign else word.value)

    def _named(self) -> _Value:
        word = self._word
        self._next += 1
        if self._take("("):
            function = _FUNCTIONS.get(word.text)
            if function is None:
                known = ", ".join(sorted(_FUNCTIONS))
                raise ConditionError(f"no function {word.text!r}; there are {known}", word.at)
            arguments = self._items(")")
            if len(arguments) != 1:
                raise ConditionError(f"{word.text}() takes one value", word.at)
            return _called(function, arguments[0])
        if word.text not in NAMES:
            known = ", ".join(NAMES)
            raise ConditionError(f"no name {word.text!r}; there are {known}", word.at)
        self.names.add(word.text)
        if word.text == "run":
            self._check_run()
        return _fact(word.text)

    def _check_run(self) -> None:
        """A budget on what nobody counts would never be met, and nobody would know."""
        if self._word.text != "." or self._word.kind != "mark":
            return
        name = self._words[self._next + 1]
        if name.kind == "name" and name.text not in RUN:
            raise ConditionError(f"no run.{name.text}; there are {', '.join(RUN)}", name.at)

    def _steps(self, value: _Value) -> _Value:
        """The path behind a value: `.name` and `[…]`, any number of them."""
        while taken := self._take(".", "["):
            if taken.text == "[":
                value = _member(value, self._or())
                self._need("]")
            elif self._word.kind in {"name", "mark", "constant"} and self._word.text.isidentifier():
                value = _member(value, _constant(self._word.text))
                self._next += 1
            else:
                raise self._wrong("expected a name behind the point")
        return value


# --- evaluation ----------------------------------------------------------------------------


def _constant(value: Any) -> _Value:
    return lambda _: value


def _fact(name: str) -> _Value:
    return lambda facts: facts.get(name)


def _any_of(parts: list[_Value]) -> _Value:
    return lambda facts: any(part(facts) for part in parts)


def _all_of(parts: list[_Value]) -> _Value:
    return lambda facts: all(part(facts) for part in parts)


def _negated(value: _Value, *, twice: bool) -> _Value:
    return lambda facts: bool(value(facts)) is twice


def _listed(items: list[_Value]) -> _Value:
    return lambda facts: [item(facts) for item in items]


def _called(function: Callable[[Any], Any], argument: _Value) -> _Value:
    return lambda facts: function(argument(facts))


def _compared(operator: Callable[[Any, Any], bool], left: _Value, right: _Value) -> _Value:
    return lambda facts: operator(left(facts), right(facts))


def _member(value: _Value, key: _Value) -> _Value:
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


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
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
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": _equal,
    "!=": lambda left, right: not _equal(left, right),
    "<": _ordered(lambda left, right: left < right),
    "<=": _ordered(lambda left, right: left <= right),
    ">": _ordered(lambda left, right: left > right),
    ">=": _ordered(lambda left, right: left >= right),
    "in": _within,
    "like": like,
}
_COMPARISONS = ("==", "!=", "<=", ">=", "<", ">")

_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "len": lambda value: len(value) if isinstance(value, str | list | tuple | Mapping) else None,
    "lower": lambda value: value.lower() if isinstance(value, str) else None,
    "exists": lambda value: value is not None,
}
