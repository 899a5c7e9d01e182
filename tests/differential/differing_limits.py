"""Intended differences in the limits of agents and in how aborted runs end."""

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
    "Retrying an agent whose tool failed, in a resumable app",
    here="Its model is called again, as in any other app.",
    there="It does nothing and ends without an answer.",
    why="That is what `retry_config` is for.",
)
TIME_OF_THE_CALLER = Difference(
    "Time the caller of a run spends between events",
    here="It doesn't count towards the `timeout` of an agent or node; nor does time in commits or"
    " holds.",
    there="It counts.",
    why="Waiting for someone else isn't being late.",
)
EXPERTS_OF_PARTS = Difference(
    "Limits of experts called below a workflow agent at the root",
    here="`retry_config` also applies to an agent of mode `single_turn` there, and an exceeded"
    " `timeout` is recorded in the history.",
    there="Such an agent isn't retried, and the history doesn't show it.",
    why="It is called by a model, as anywhere else.",
)
STOPPED_THREADS = Difference(
    "Plain functions in an aborted run",
    here="The run ends at once: the function continues in its thread, and its result is lost.",
    there="The run ends after the function and has its result.",
    why="Plain functions run in threads, which can't be stopped; a stop must take effect.",
)
ERRORS_WHILE_STOPPING = Difference(
    "Exceptions of tools cancelled by an abort",
    here="The history records them; the run ends.",
    there="The run hangs, or the history doesn't record them.",
    why="Errors must be visible, and a stop must take effect.",
    without=_without_errors_told,
)
ERRORS_OF_STOPPED_SEQUENCES = Difference(
    "Exceptions of tools below a Sequential, Loop or Parallel agent that abort the run",
    here="The history records them, as below other agents; the run ends.",
    there="The run raises them, and the history doesn't record them.",
    why="Errors must be visible, and aborted runs should all end the same way.",
)
