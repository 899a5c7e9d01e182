"""Intended differences in state and files, and the functions that remove them from a record."""

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
    here="The last write counts, which is what the tools saw of each other.",
    there="For text, numbers and similar values the write of the later call in the answer counts,"
    " even if it came first; a counter raised by two calls may go up only once.",
    why="The committed state must be what the state was.",
    without=_without_deltas,
)
OLD_DELTAS = Difference(
    "State changed in place after its commit",
    here="The event keeps the values it committed.",
    there="With InMemorySessionService, the past event also changes.",
    why="The past doesn't change (events seed), in any service.",
    without=_without_deltas,
)
FILES_OF_MESSAGES = Difference(
    "`save_input_blobs_as_artifacts`",
    here="It applies to every kind of root agent.",
    there="It is ignored if the root is an agent with a model.",
    why="The Runner's contract is the same for every kind of root agent.",
)
BOUND_AFTER_RUNS = Difference(
    "Context variables set by callbacks, after the run",
    here="They also apply to the caller of `run_async`, unless the agent runs in its own task, as"
    " in a ParallelAgent or as a Workflow node.",
    there="They are reset after the run, since each agent runs in its own task.",
    why="A run without tasks costs less and ends with its caller.",
)
BOUND_BY_TOOLS = Difference(
    "Context variables set by tools",
    here="Those set by the only call of an answer apply to the rest of the run, as for callbacks;"
    " those set by one of several calls are reset after the call.",
    there="They are reset after the call.",
    why="A single call doesn't need its own task.",
)
NO_NAN = Difference(
    "NaN and infinity in the state",
    here="They become null.",
    there="They stay in memory, but can't be stored in a file.",
    why="JSON has neither; memory should hold what is read back.",
)


STATE_OF_WAITING_TOOLS = Difference(
    "State written by a long-running tool next to other calls",
    here="If it returns None, so that its call stays open, its writes are in the event of the"
    " other calls' responses.",
    there="Its writes are lost if it was called with others, and kept if it was called alone.",
    why="A tool that starts a job stores the job's number in the state.",
)


EMPTY_LAST_TEXT = Difference(
    "`output_key` when the last answer of a run is an empty text",
    here="The agent's earlier text, next to calls, is stored.",
    there="The value is empty.",
    why="In both, it is all text of the run if the last answer has text.",
)
