"""Intended differences in tasks and in agents that answer once."""

from tests.differential.case import Difference
from tests.differential.records import Json, events_where, without_errors


def _answers(event: Json, name: str) -> bool:
    """Whether the event has a response of that function."""
    parts = event.get("content", {}).get("parts", ())
    return any(part.get("functionResponse", {}).get("name") == name for part in parts)


TOOLS_BESIDE_TASKS = Difference(
    "Tools called together with a task",
    here="They run before the task starts, whether they are functions or tool objects.",
    there="Plain functions run only after the task has finished, if it does.",
    why="An answer's calls belong together; the user may take days to answer the task's agent.",
)
TASK_AFTER_TRANSFER = Difference(
    "Tasks assigned by an agent after a transfer",
    here="It assigns them like any other agent.",
    there="The run fails with ValueError; the task starts with the user's next message, which is"
    " lost.",
    why="Agents work the same wherever they are in the tree.",
)
TASK_OF_THE_ROOT = Difference(
    "An agent of mode `task` as root",
    here="It sees the message that started its task, even after more messages. After a finished"
    " task, the next message starts the next one.",
    there="It sees the latest message instead of the first, and messages after a finished task"
    " don't continue the waiting task.",
    why="Without the user's request the agent can't finish its task.",
)
ARGUMENTS_OF_TASKS = Difference(
    "Invalid arguments of a task or an agent as tool",
    here="The calling model gets an error that says what is wrong, so it can correct the call.",
    there="The run fails with a validation error.",
    why="Models make such mistakes and correct them when told; other tools work this way, too.",
)
TASK_ALWAYS_TOLD = Difference(
    "Tasks of an agent with `include_contents='none'`",
    here="Its first request contains the task.",
    there="Its first request is empty.",
    why="An agent must know its task.",
)
CHAT_BELOW_TASKS = Difference(
    "A task agent that transfers to a chat agent below it",
    here="The task stays open; the user's next message goes to the task agent.",
    there="The task ends at once, with no output.",
    why="A task ends with `finish_task`.",
)
LEAVING_TASKS = Difference(
    "Leaving a task by transfer",
    here="An agent of mode `task` or `single_turn` may transfer only to chat agents below it.",
    there="It may transfer to its parent and peers, which then work within the task, and the"
    " parent starts it again.",
    why="Its caller waits for the result: a task ends with `finish_task`, a single turn with its"
    " answer.",
)
ENDS_OF_TASKS = Difference(
    "End of a task agent",
    here="In a resumable app it is recorded when the task is finished.",
    there="It is recorded when the agent answers and waits for the user, and not when the task is"
    " finished.",
    why="An agent's end means that its work is done (resume seed).",
)
AFTER_TASKS = Difference(
    "After-callbacks of task agents",
    here="`after_agent_callback` is called when the agent waits for the user, and when it has"
    " finished its task.",
    there="It is not called when the task is finished.",
    why="Code that cleans up after an agent must run at its end.",
)
CALLBACKS_OF_TASKS = Difference(
    "Tool callbacks of calls that assign tasks",
    here="`before_tool_callback` is called; its result replaces the task.",
    there="It is skipped, unless another tool is called together with the task.",
    why="A callback that allows or forbids calls must see all of them.",
)
CHECKED_OUTPUT = Difference(
    "Output of tasks",
    here="The output is what the schema makes of the arguments of `finish_task`: converted values,"
    " defaults filled in, None omitted.",
    there="It is the arguments as the model wrote them.",
    why="Code that reads the output relies on its schema; `output_key` works this way in both.",
)
SINGLE_TURN_BELOW_TASKS = Difference(
    "A `single_turn` agent below a task agent",
    here="It gets its own request.",
    there="It also gets the task of the agent above it.",
    why="It gets its request and nothing of the conversation, wherever it is in the tree.",
)
SINGLE_TURN_ERRORS = Difference(
    "Errors of `single_turn` agents",
    here="The caller's model gets `{error: ...}` with the agent's name and the exception.",
    there="It gets `{result: ...}` with a text saying that a node failed.",
    why="All tools report errors in the same form, and a model that knows the cause can act on it.",
)
SINGLE_TURN_BUDGET = Difference(
    "The limit of model calls, reached below a `single_turn` agent",
    here="The run ends with LlmCallsLimitExceededError and one error event, of the agent that"
    " reached the limit.",
    there="The caller's model gets the error as a result; since it can't be called any more"
    " either, the run ends with a second error event, of the caller.",
    why="The limit applies to the run, and no model can do anything about it.",
    without=events_where(lambda event: without_errors(event) and not _answers(event, "expert")),
)
SINGLE_TURN_ROOT = Difference(
    "An agent of mode `single_turn` as root",
    here="It talks to the user, like one of mode `chat`.",
    there="Every run raises ValueError.",
    why="Developers of an expert want to try it alone.",
)
MISSING_FIELDS = Difference(
    "Missing arguments of OpenAPI operations",
    here="A call without a required argument, or with an empty one in the path, isn't sent; the"
    " model is told what is missing.",
    there="It is sent as it is, or fails while it is built.",
    why="The model can correct itself at once, and the service doesn't get an incomplete request.",
)
SINGLE_TURN_SILENCE = Difference(
    "`single_turn` agents without an answer",
    here="An answer that is an error, or only thoughts, is returned as `{error: ...}`.",
    there="The result is null or an empty text.",
    why="The caller's model must not mistake a failure for an answer.",
)
SINGLE_TURN_ARGUMENTS = Difference(
    "`single_turn` agents called with other arguments",
    here="Without `request`, the agent gets the arguments as JSON.",
    there="It gets the user's message.",
    why="The agent above calls it, not the user.",
)
SINGLE_TURN_CALLBACKS = Difference(
    "Return value of a `single_turn` agent's `after_agent_callback`",
    here="It is the agent's final answer and the result.",
    there="The agent fails, since it has already answered.",
    why="The callback's contract is the same for every agent.",
)
