"""The differences on purpose in tasks, and in agents that answer once."""

from tests.differential.case import Difference
from tests.differential.records import Json, events_where, without_errors


def _answers(event: Json, name: str) -> bool:
    """Whether the event has the response of that function."""
    parts = event.get("content", {}).get("parts", ())
    return any(part.get("functionResponse", {}).get("name") == name for part in parts)


TOOLS_BESIDE_TASKS = Difference(
    "Tools called beside a task",
    here="They run before the task begins, whether they are functions or tool objects.",
    there="Those given as plain functions run only when the task has ended, if it does.",
    why="An answer's calls belong together; the user may take days to answer the task's agent.",
)
TASK_AFTER_TRANSFER = Difference(
    "Tasks of an agent that was handed the conversation",
    here="It gives them away like any other agent.",
    there="The run ends with ValueError; the task begins with the user's next message, which is"
    " lost.",
    why="Agents work the same wherever they are in the tree.",
)
TASK_OF_THE_ROOT = Difference(
    "An agent of mode `task` as root",
    here="It sees the message that began its task, also when the user has said more, and after a"
    " finished task the next one begins with the next message.",
    there="It sees the latest message in the place of the first, and messages after a finished task"
    " do not go on with the task that waits for them.",
    why="Without what the user wants the agent cannot finish its task.",
)
ARGUMENTS_OF_TASKS = Difference(
    "Arguments of a task or an agent as tool that do not fit the input schema",
    here="The model that called gets an error to correct itself by, which says what does not fit.",
    there="The run ends with a validation error.",
    why="Models make such mistakes, and correct them when told; other tools behave so, too.",
)
TASK_ALWAYS_TOLD = Difference(
    "Tasks of an agent with `include_contents='none'`",
    here="Its first request tells it the task.",
    there="Its first request is empty.",
    why="An agent must know what it is to do.",
)
CHAT_BELOW_TASKS = Difference(
    "A task agent that hands over to a chat agent below it",
    here="The task stays open; the user's next message goes to the task agent.",
    there="The task ends at once, with no output.",
    why="A task ends with `finish_task`.",
)
LEAVING_TASKS = Difference(
    "Leaving a task by transfer",
    here="An agent of mode `task` or `single_turn` may hand over only to chat agents below itself.",
    there="It may hand over to its parent and peers, which then work within the task, and the"
    " parent begins it anew.",
    why="Its caller waits for the result: a task ends with `finish_task`, a single turn with its"
    " answer.",
)
ENDS_OF_TASKS = Difference(
    "End of a task agent",
    here="In a resumable app it is recorded when the task is finished.",
    there="It is recorded when the agent says something and waits for the user, and not when the"
    " task is finished.",
    why="The end of an agent says that its work is done (resume seed).",
)
AFTER_TASKS = Difference(
    "After-callbacks of task agents",
    here="`after_agent_callback` is called when the agent waits for the user, and also when it has"
    " finished its task.",
    there="It is not called when the task is finished.",
    why="Whoever cleans up after an agent has to hear of its end.",
)
CALLBACKS_OF_TASKS = Difference(
    "Tool callbacks of calls that give tasks",
    here="`before_tool_callback` is asked; its answer stands for the task.",
    there="It is passed over, unless another tool is called beside the task.",
    why="A callback that allows or forbids calls must see all of them.",
)
CHECKED_OUTPUT = Difference(
    "Output of tasks",
    here="The output is what the schema makes of the arguments of `finish_task`: values converted,"
    " defaults filled in, None left out.",
    there="It is the arguments as the model gave them.",
    why="What reads the output relies on its schema; `output_key` behaves so in both.",
)
SINGLE_TURN_BELOW_TASKS = Difference(
    "A `single_turn` agent below a task agent",
    here="It is told what it was asked.",
    there="It is also told the task of the agent above it.",
    why="It is told what it was asked and nothing of the conversation, wherever it is in the tree.",
)
SINGLE_TURN_ERRORS = Difference(
    "Errors of `single_turn` agents",
    here="The caller's model gets `{error: ...}` with the name of the agent and what it raised.",
    there="It gets `{result: ...}` with a text that says that a node failed.",
    why="All tools tell of errors in one form, and a model that knows the cause can act on it.",
)
SINGLE_TURN_BUDGET = Difference(
    "The limit of model calls, met below a `single_turn` agent",
    here="The run ends with LlmCallsLimitExceededError and one error event, of the agent that met"
    " the limit.",
    there="The error is given to the caller's model as a result; as that cannot be asked any more"
    " either, the run ends with a second error event, of the caller.",
    why="The limit is the run's, and no model can do anything about it.",
    without=events_where(lambda event: without_errors(event) and not _answers(event, "expert")),
)
SINGLE_TURN_ROOT = Difference(
    "An agent of mode `single_turn` as root",
    here="It talks with the user, like one of mode `chat`.",
    there="Every run raises ValueError.",
    why="Whoever works on an agent that others ask wants to try it alone.",
)
MISSING_FIELDS = Difference(
    "Missing fields of OpenAPI operations",
    here="A call without a mandatory argument, or with an empty one in the path, is not sent; the"
    " model is told what is missing.",
    there="It is sent as it is, or fails while it is being put together.",
    why="The model can correct itself at once, and a service is not bothered with half a request.",
)
SINGLE_TURN_SILENCE = Difference(
    "`single_turn` agents that say nothing",
    here="An answer that is an error, or holds nothing but thoughts, is told as `{error: ...}`.",
    there="The result is null or an empty text.",
    why="The caller's model must not take a failure for an answer.",
)
SINGLE_TURN_ARGUMENTS = Difference(
    "`single_turn` agents called with other arguments",
    here="Without `request` the agent is told the arguments as JSON.",
    there="It is told the user's message.",
    why="It is asked by the agent above it, not by the user.",
)
SINGLE_TURN_CALLBACKS = Difference(
    "What `after_agent_callback` of a `single_turn` agent returns",
    here="It is the agent's last word, and the result.",
    there="The agent fails, since it has answered already.",
    why="The callback's contract is the same for every agent.",
)
