"""Where state and files are meant to differ, and what is left of a record without that."""

from typing import Any

from tests.differential.case import Difference

Json = Any


def _without_deltas(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            event["actions"].pop("stateDelta", None)
    for session in record["sessions"].values():
        session.pop("state", None)
    return record


LATEST_WRITE = Difference(
    "Calls of one answer that write the same state key",
    here="What was written last counts: it is what the tools saw of each other.",
    there="Of texts, numbers and so on the write of the later call in the answer counts, also if it"
    " came first; a counter that two calls raise may end up raised once.",
    why="What is committed has to be what the state was.",
    without=_without_deltas,
)
OLD_DELTAS = Difference(
    "State that is changed in place after its commit",
    here="The event that committed it keeps what it has committed.",
    there="With InMemorySessionService the event of the past has the change, too.",
    why="What has happened stays as it was (events seed), whichever service keeps it.",
    without=_without_deltas,
)
FILES_OF_MESSAGES = Difference(
    "`save_input_blobs_as_artifacts`",
    here="Holds for every kind of root agent.",
    there="Is ignored if the root is an agent with a model.",
    why="The Runner's contract is the same for every kind of root agent.",
)
BOUND_AFTER_RUNS = Difference(
    "What callbacks bind to context variables, after the run",
    here="It holds for the caller of `run_async`, too, unless the agent runs in a task of its own,"
    " as in a ParallelAgent and as a node of a Workflow.",
    there="It is gone with the run, since each agent runs in a task of its own.",
    why="A run without tasks costs less, and ends with its caller.",
)
BOUND_BY_TOOLS = Difference(
    "What tools bind to context variables",
    here="What the only call of an answer binds holds for what follows in the run, as what"
    " callbacks bind does; what one of several calls binds is gone with the call.",
    there="It is gone with the call.",
    why="A single call needs no task of its own.",
)
NO_NAN = Difference(
    "NaN and infinity in the state",
    here="They become null.",
    there="They are kept in memory, and cannot be stored in a file.",
    why="JSON has neither; what is in memory is what is read back.",
)


STATE_OF_WAITING_TOOLS = Difference(
    "State that a long-running tool writes beside other calls",
    here="If it gives None, so that its call stays open, what it wrote is in the event of the other"
    " calls' responses.",
    there="What it wrote is lost if it was called beside others, and kept if it was called alone.",
    why="A tool that begins a job keeps its number in the state.",
)


EMPTY_LAST_TEXT = Difference(
    "`output_key` when the last answer of a run is an empty text",
    here="What the agent has said before, beside calls, is kept.",
    there="The value is empty.",
    why="It is all text of the run, in both, when the last answer has words.",
)
