"""The differences on purpose in limits of agents and in the ends of aborted runs."""

from typing import Any

from tests.differential.case import Difference


def _without_errors_told(record: Any) -> Any:
    for holder in (*record["runs"], *record["sessions"].values()):
        holder["events"] = [
            event
            for event in holder["events"]
            if event.get("errorCode") in {None, "INVOCATION_ABORTED"}
        ]
    return record


FAILED_CALLS_TRIED_AGAIN = Difference(
    "An agent that is tried again after a tool of it failed, in a resumable app",
    here="Its model is asked again, as in any other app.",
    there="It does nothing and ends without an answer.",
    why="That is what `retry_config` is for.",
)
TIME_OF_THE_CALLER = Difference(
    "Time that the caller of a run takes for its events",
    here="It does not count for the `timeout` of an agent or a node, nor does that of commits, or"
    " of a hold at a gate of the debugger.",
    there="It counts.",
    why="Who has to wait for somebody else is not late.",
)
EXPERTS_OF_PARTS = Difference(
    "Limits of experts whose caller is part of a workflow agent at the root",
    here="`retry_config` holds for an agent of mode `single_turn` there, too, and a `timeout` that"
    " has passed is told in the history.",
    there="Such an agent is not tried again, and the history tells nothing.",
    why="It is called by a model, as anywhere else.",
)
STOPPED_THREADS = Difference(
    "Plain functions in a run that is aborted",
    here="The run ends at once: the function goes on in its thread, and what it returns is lost.",
    there="The run ends after the function, and has its result.",
    why="Plain functions run in threads, which nobody can stop; a stop has to stop.",
)
ERRORS_WHILE_STOPPING = Difference(
    "What tools raise when they are cancelled by an abort",
    here="The history tells of it; the run ends.",
    there="The run hangs, or the history tells nothing.",
    why="What goes wrong has to be seen, and a stop has to stop.",
    without=_without_errors_told,
)
ERRORS_OF_STOPPED_SEQUENCES = Difference(
    "What tools below a Sequential, Loop or Parallel agent raise when they have aborted the run",
    here="The history tells of it, as it does below other agents; the run ends.",
    there="The run raises it, and the history tells nothing.",
    why="What goes wrong has to be seen, and an aborted run ends in one way.",
)
