"""Intended differences in how runs resume."""

from tests.differential.case import Difference
from tests.differential.records import Json


def _without_tellers(record: Json) -> Json:
    for request in record["requests"]:
        for content in request["contents"]:
            for part in content["parts"]:
                part.pop("by", None)
    return record


RESTORED_TOOLS = Difference(
    "Resuming after a failed tool",
    here="`run_async(invocation_id=...)` runs calls without a response again, including those of a"
    " batch in which others succeeded, and keeps the responses of those.",
    there="A failed call of a batch is dropped; so is a call that raised, if the history has its"
    " error event. The model is called again.",
    why="The resume seed promises that results of successful tools are restored and failed ones"
    " run again.",
)
RESUMED_AT_THE_END = Difference(
    "Resuming a finished invocation",
    here="In a resumable app, it yields nothing.",
    there="With a model agent as root, the model is called again and adds another answer.",
    why="All work is done; composite agents behave the same in both.",
)
UNKNOWN_INVOCATION = Difference(
    "Resuming an unknown invocation",
    here="It raises InvocationNotFoundError for every kind of root agent.",
    there="With a model agent as root, the model is called with the current history; others raise"
    " ValueError.",
    why="A mistyped id must not start something else.",
)
SEED_CHECKPOINTS = Difference(
    "`_create_agent_state_event`",
    here="It accepts a state or `end_of_agent=True`, as in the resume seed, or only `ctx`.",
    there="It accepts only `ctx`, and raises TypeError for the seed's form.",
    why="Code written for the seed must run, and so must code written for 2.13.0.",
)
PAUSED_WORKFLOW = Difference(
    "Workflow agents that wait for an answer",
    here="A Sequential, Loop or Parallel agent whose sub-agent waits for the answer to a"
    " long-running call waits, too, and continues after it, in every app and as a graph node. In"
    " an app that isn't resumable, the event a loop waits for has its iteration in"
    " `custom_metadata`.",
    there="In an app that isn't resumable, the answer goes only to the sub-agent and what follows"
    " never runs; in a resumable one, resuming without an answer ends the sequence. In a graph,"
    " the answer is taken as the node's output.",
    why="As in the resume seed, a sequence continues with the sub-agent after the current one.",
)
ENDS_OF_TEAMS = Difference(
    "End of an agent that transferred",
    here="In a resumable app an agent's end is recorded when the agent it transferred to has"
    " ended.",
    there="It is recorded right after the transfer.",
    why="An interrupted invocation resumes from its root, which leads to the active agent.",
)
ANSWERS_TOLD = Difference(
    "A person's answers to another agent's call",
    here="Other agents are told that the calling agent got the answer.",
    there="They are told that the user gave it.",
    why="Both quote it; here all responses have the same form.",
    without=_without_tellers,
)
