"""The differences on purpose in how runs go on."""

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
    here="`run_async(invocation_id=...)` runs the calls again that have no response yet, also those"
    " of a batch of which others succeeded, and takes the responses of those as they are.",
    there="A failed call of a batch is dropped; so is a call that ended with an exception, of which"
    " the history has an error event. The model is asked again.",
    why="The resume seed promises that the results of successful tools are restored, and that the"
    " failed one runs again.",
)
RESUMED_AT_THE_END = Difference(
    "Resuming what has ended",
    here="Resuming an invocation of a resumable app that came to its end yields nothing.",
    there="With a model agent as root the model is asked again, and the answer is one more.",
    why="All work is done; composite agents answer the same way in both.",
)
UNKNOWN_INVOCATION = Difference(
    "Resuming an unknown invocation",
    here="InvocationNotFoundError, for every kind of root agent.",
    there="With a model agent as root the model is asked on the present history; for others"
    " ValueError is raised.",
    why="A mistyped id must not start something else.",
)
SEED_CHECKPOINTS = Difference(
    "`_create_agent_state_event`",
    here="Takes a state or `end_of_agent=True`, as in the resume seed, or `ctx` alone.",
    there="Takes `ctx` alone and raises TypeError for the seed's form.",
    why="Code written after the seed has to run; so does code written for 2.13.0.",
)
PAUSED_WORKFLOW = Difference(
    "Workflow agents that wait for an answer",
    here="A Sequential, Loop or Parallel agent with a sub-agent that waits for the answer to a"
    " long-running call waits too, and goes on behind it when the answer comes, in every app and"
    " as a node of a graph."
    " In one that is not resumable, the event a loop waits for has its round in `custom_metadata`.",
    there="In an app that is not resumable the answer goes to the sub-agent alone and what follows"
    " never runs; in a resumable one a resumption without answer ends the sequence. In a graph the"
    " answer is taken for the output of the node.",
    why="The resume seed: a sequence goes on with the sub-agent after the current one.",
)
ENDS_OF_TEAMS = Difference(
    "End of an agent that handed over",
    here="In a resumable app an agent records its end when the agent it handed over to has ended.",
    there="It records it right after the transfer.",
    why="A broken-off invocation is resumed from its root, which leads to the agent in charge.",
)
ANSWERS_TOLD = Difference(
    "Answers of a human to another agent's call",
    here="Other agents are told that the calling agent got the answer.",
    there="They are told that the user gave it.",
    why="In both cases it is fenced as a quotation; here all responses are told in one form.",
    without=_without_tellers,
)
