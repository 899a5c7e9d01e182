"""The checks that a test of a recorded run can make, filled in from the recording."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from devui.debugger.saved_tests.literals import literal, text
from devui.wire.outcomes import agents_in_turn, final_state, last_text, tool_calls
from devui.wire.recordings import Recording

_LONGEST: Final = 1500
"""The longest check that is selected by default, in characters."""
_VALUE_LENGTH: Final = 80


@dataclass(frozen=True, slots=True)
class Check:
    """An assertion that a test can make."""

    id: str
    """The kind, or `state:KEY`."""
    label: str
    """The description on the page."""
    code: str
    """The statement, indented for a function body."""
    on: bool = True
    """Whether it is selected by default."""


def checks_of(recording: Recording) -> list[Check]:
    """Return all possible checks of the run, in the order of the test."""
    return list(_checks(recording))


def select(checks: list[Check], names: frozenset[str] | None) -> list[Check]:
    """Return the checks with these ids or kinds, or with None those selected by default.

    How the run ended is always checked, since it explains what else may be missing.
    """
    if names is None:
        return [check for check in checks if check.on]
    names |= {"error"}
    return [check for check in checks if names & {check.id, check.id.partition(":")[0]}]


def _checks(recording: Recording) -> Iterator[Check]:
    events, error = recording.events, recording.error
    yield _equals("error", f"Fails with {_short(error)}" if error else "No error", "error", error)
    agents, tools, final_text = agents_in_turn(events), tool_calls(events), last_text(events)
    yield _equals("agents", f"Agents in order: {_short(', '.join(agents))}", "agents", agents)
    names = _short(", ".join(name for name, _ in tools))
    tools_label = f"Tools in order, with arguments: {names}" if tools else "No tool calls"
    yield _equals("tools", tools_label, "tools", tools)
    text_label = f"Final text: {_short(final_text)}" if final_text else "No text"
    yield _equals("text", text_label, "text", final_text)
    for key, value in final_state(events).items():
        label = f"Final state {_short(key)}: {_short(literal(value))}"
        yield _equals(f"state:{key}", label, f"state[{text(key)}]", value)
    yield Check(
        "recorded",
        "Prompts, calls, and events match the recording",
        "    assert result.as_recorded, result.difference",
    )


def _equals(name: str, label: str, attribute: str, value: Any) -> Check:
    is_single = value is None or isinstance(value, bool)
    before = f"    assert result.{attribute} {'is' if is_single else '=='} "
    code = before + literal(value, indent=4, used=len(before))
    return Check(name, label, code, len(code) <= _LONGEST)


def _short(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= _VALUE_LENGTH else f"{line[:_VALUE_LENGTH]}…"
