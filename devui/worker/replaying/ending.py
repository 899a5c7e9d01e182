"""Whether a run that was executed again came to the end that was recorded."""

from collections.abc import Iterator
from typing import Any, Literal

from devui.wire.recordings import RecordedCall, Recording
from devui.worker.replaying.calltree import call_told

_Difference = tuple[Literal["end", "fragment"], str, dict[str, Any]]
"""What of, in words, and more of a Divergence."""


def other_ends(
    recording: Recording,
    passed: int,
    came: tuple[str, str | None],
    *,
    left: RecordedCall | None,
    missed: list[dict[str, Any]],
) -> Iterator[_Difference]:
    """What is different at the end, the weightiest first.

    `passed` events were committed, and the run `came` to this outcome and error; `left` is a call
    and `missed` are fragments that were to come.
    """
    outcome, error = came
    if came != (recording.outcome, recording.error):
        expected, actual = recording.error or recording.outcome, error or outcome
        told = f"The run ends otherwise than recorded: {actual}."
        yield "end", told, {"expected": expected, "actual": actual}
    if passed < len(recording.events):
        missing = recording.events[passed]
        author, number = missing.get("author"), recording.first + passed
        told = f"The run ends before #{number} of {author}, which was recorded."
        yield "end", told, {"agent": author, "expected": missing}
    if left is not None:
        told = f"The run ends without the recorded call of {left.name} by {left.agent}."
        yield "end", told, {"agent": left.agent, "expected": call_told(left)}
    if missed:
        author = missed[0].get("author")
        told = f"{author} did not stream all fragments that were recorded."
        yield "fragment", told, {"agent": author, "expected": missed[0]}
