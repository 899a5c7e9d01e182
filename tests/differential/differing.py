"""The differences on purpose that cases show, in the words of the guide."""

from collections.abc import Callable
from typing import Any

from tests.differential.case import Difference

Json = Any


def _events_where(keep: Callable[[Json], bool]) -> Callable[[Json], Json]:
    """A record of only those events, both yielded and stored."""

    def kept(record: Json) -> Json:
        for holder in (*record["runs"], *record["sessions"].values()):
            holder["events"] = [event for event in holder["events"] if keep(event)]
        return record

    return kept


def _without_errors(event: Json) -> bool:
    return "errorCode" not in event


def _is_whole(event: Json) -> bool:
    return not event.get("partial")


def _without_error_messages(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            event.pop("errorMessage", None)
    return record


def _answers(event: Json, name: str) -> bool:
    """Whether the event has the response of that function."""
    parts = event.get("content", {}).get("parts", ())
    return any(part.get("functionResponse", {}).get("name") == name for part in parts)


def _says_or_does_something(event: Json) -> bool:
    return "content" in event or "errorCode" in event or any(event["actions"].values())


def _without_summary_prompts(record: Json) -> Json:
    for request in record["requests"]:
        [first, *_] = [*request["contents"], {"parts": []}]
        if len(request["contents"]) == 1 and not request["tools"]:
            first["parts"] = []
    return record


def _without_kept_state(record: Json) -> Json:
    for session in record["sessions"].values():
        for key in "ab":
            session["state"].pop(key, None)
            for event in session["events"]:
                event["actions"]["stateDelta"].pop(key, None)
    return record


def _without_bad_answers(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        holder["events"] = [event for event in holder["events"] if event["author"] == "user"]
    return _without_error_types(record)


def _without_ids(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            del event["id"]
    return record


def _without_told_responses(record: Json) -> Json:
    for request in record["requests"]:
        for content in request["contents"]:
            for part in content["parts"]:
                part.get("functionResponse", {}).pop("response", None)
    return record


def _without_error_types(record: Json) -> Json:
    for run in record["runs"]:
        run["error"] = bool(run["error"])
    return record


def _without_yielded_users(record: Json) -> Json:
    for run in record["runs"]:
        run["events"] = [event for event in run["events"] if event["author"] != "user"]
    return record


def _without_tellers(record: Json) -> Json:
    for request in record["requests"]:
        for content in request["contents"]:
            for part in content["parts"]:
                part.pop("by", None)
    return record


def _without_pending_delta(record: Json) -> Json:
    key = "save_files_as_artifacts_plugin:pending_delta"
    for holder in (*record["runs"], *record["sessions"].values()):
        holder.get("state", {}).pop(key, None)
        for event in holder["events"]:
            event["actions"]["stateDelta"].pop(key, None)
    return record


def _without_authors_of_errors(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            if "errorCode" in event:
                event["author"] = "?"
    return record


def _without_kept_credentials(record: Json) -> Json:
    for session in record["sessions"].values():
        session["state"].pop("the key", None)
    return record


def _without_places_of_errors(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            if "errorCode" in event:
                event["nodeInfo"] = "?"
    return record


def _without_repeated_outputs(event: Json) -> bool:
    """Whether it is none: google-adk repeats an output without saying for whom."""
    return "output" not in event or "outputFor" in event["nodeInfo"]


EMPTY_MESSAGE = Difference(
    "A message without parts",
    here="`run_async` raises ValueError for every kind of root agent.",
    there="It does so for composite and custom roots, and runs agents with a model.",
    why="An empty message is a mistake of the caller; it should be told, and the same for all.",
)
BLANK_TEXT = Difference(
    "Blank texts in the history",
    here="An answer of blanks alone is left out of later requests, as an empty one is.",
    there="It is sent.",
    why="It says nothing, and some providers refuse a request with a blank text.",
)
ORDER_OF_ANSWERS = Difference(
    "Order of late tool responses",
    here="A request has the responses of one batch of calls in the order of the calls, also when"
    " some came later.",
    there="They stand in the order in which they came.",
    why="Models pair calls and responses by position: they do not see ids that were made up.",
)
FAILED_TRANSFER = Difference(
    "Transfers that are not allowed",
    here="An agent that hands over to itself, to a stranger or past its own parent, peers and"
    " children ends the run with ValueError, and the history says so in an error event.",
    there="ValueError or WorkflowDataError is raised, and the history says nothing.",
    why="Whoever looks at the history must see why the run ended (events seed).",
    without=lambda record: _events_where(_without_errors)(_without_error_types(record)),
)
WHO_FAILED = Difference(
    "Author of an error event",
    here="The agent that failed.",
    there="After a transfer, the root agent if the failing agent had not yet said anything; in a"
    " Workflow the workflow.",
    why="It is the failing agent that needs to be looked at.",
    without=_without_authors_of_errors,
)
UNFIT_INPUT = Difference(
    "Place of an error about a node's input",
    here="The node whose input, or parameter, it is.",
    there="The workflow around it, if the node or the parameter has a type that is checked"
    " before the node begins.",
    why="The history has to show which node it was.",
    without=_without_places_of_errors,
)
SILENT_NODES = Difference(
    "Nodes that gave nothing, when a workflow goes on",
    here="A node that has ended without output, route and change of state is not run again.",
    there="It is run again each time the invocation goes on.",
    why="A node that sends a letter gives nothing, and must not send it twice.",
)
LOST_ORDER = Difference(
    "Order of nodes, when a workflow goes on",
    here="What had ended is taken from the history, in that order; what had not is run.",
    there="Where nodes run nodes side by side in a workflow in a workflow, it may wait 15 s for a"
    " node that is never run, and then raise WorkflowInvariantError.",
    why="An answer of the user must not be lost.",
)
TEXT_ANSWERS = Difference(
    "Answers that are asked for as a text",
    here="An answer such as 42 to a question with response_schema=str is the text.",
    there="It is read as JSON, and then refused because it is no text.",
    why="Text was asked for.",
)
STOPPED_NODES = Difference(
    "Nodes that were stopped in the middle",
    here="A node that was stopped after its first events is run again when the invocation goes on.",
    there="It is taken for ended, without output, if it is not made with rerun_on_resume=True.",
    why="It has not done its work.",
)
REPLAYED_NODES = Difference(
    "Outputs of nodes, when a workflow goes on in a resumable app",
    here="Each is told once, when the node has ended.",
    there="They are told again at each resumption.",
    why="The history has them already.",
    without=_events_where(_without_repeated_outputs),
)
ERRORS_IN_WORKFLOWS = Difference(
    "Errors below Sequential, Loop, Parallel and custom agents",
    here="An agent with a model that fails leaves an error event in the history, wherever it is in"
    " the tree.",
    there="It does so only if the root is an agent with a model.",
    why="The history must show why a run ended (events seed).",
    without=_events_where(_without_errors),
)
USER_MESSAGE = Difference(
    "`yield_user_message`",
    here="Holds for every kind of root agent.",
    there="Is ignored if the root is a Sequential, Loop, Parallel or custom agent.",
    why="The Runner's contract is the same for every kind of root agent.",
    without=_without_yielded_users,
)
UNSIGNED_EVENTS = Difference(
    "Events without author or invocation",
    here="An event that a custom agent yields without `author` or `invocation_id` gets them.",
    there="They stay empty if the root is a custom agent.",
    why="The runtime seed's own examples leave them out; a history needs both.",
)
END_INVOCATION = Difference(
    "`end_invocation`",
    here="A callback or tool that sets `end_invocation` on the invocation context ends its agent.",
    there="In agents with a model as root it is set on a copy and has no effect.",
    why="This is what the field says.",
)
OFF_THE_LOOP = Difference(
    "Plain functions",
    here="Tools and callbacks that are plain functions run in threads. Of one batch of calls they"
    " run at the same time: what one reads, waits and then writes may take back what another wrote"
    " meanwhile, as with async functions. One that needs the loop, or a thing that belongs to its"
    " thread, such as a connection of sqlite3, has to be `async def`; the error says so.",
    there="They run on the event loop, unless `tool_thread_pool_config` is set, and hold it up.",
    why="A function that blocks must not stop the other runs of the process (runtime seed).",
)
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


def _without_exploring(value: Json) -> Json:
    """Texts and code that name the data file, which each runtime writes for itself."""
    if isinstance(value, dict):
        return {key: _without_exploring(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_exploring(each) for each in value]
    if isinstance(value, str) and ("`data_1_2" in value or "read_csv" in value):
        return "<names the file>"
    return value


EXPLORED_FILES = Difference(
    "Code that looks at data files",
    here="With `optimize_data_file`, pandas tells types, missing and different values.",
    there="It tells the same in another table.",
    why="Nothing was copied.",
    without=_without_exploring,
)
KEPT_CREDENTIALS = Difference(
    "SessionStateCredentialService",
    here="The state holds the credential as plain JSON.",
    there="It holds an object, which a session service that writes JSON turns into a dict.",
    why="State is JSON, whichever service keeps it.",
    without=_without_kept_credentials,
)
PLUGIN_STATE = Difference(
    "Bookkeeping of SaveFilesAsArtifactsPlugin",
    here="The plugin keeps its own records out of the session's state.",
    there="It leaves `save_files_as_artifacts_plugin:pending_delta` in the state.",
    why="State belongs to the agents' author.",
    without=_without_pending_delta,
)
EMPTY_EVENTS = Difference(
    "Events that say nothing",
    here="Code that a model runs on its own side leaves an event only if it made files.",
    there="Each answer is preceded by an event without content and without any change.",
    why="An event that says and changes nothing helps nobody who reads the history.",
    without=_events_where(_says_or_does_something),
)
GUESSED_TOKENS = Difference(
    "Prompt sizes that nobody has measured",
    here="With `token_threshold`, a prompt that the model has not measured counts as long as what"
    " the agent is sent.",
    there="After a run, responses of tools count with the words that fence another agent's"
    " messages, so that summaries come much too early.",
    why="The agent is sent its own responses as they are.",
)
SUMMARY_PROMPT = Difference(
    "The prompt for summaries",
    here="`LlmEventSummarizer` asks in words of its own.",
    there="It is worded differently.",
    why="Nothing was copied. `prompt_template` holds for both.",
    without=_without_summary_prompts,
)
KEPT_STATE = Difference(
    "State that a session was created with",
    here="A rewind gives it back, and leaves keys alone that no event has written. A session file"
    " of ADK's schema does not tell it: from one, keys that were written since are set to None.",
    there="It is set to None.",
    why="It was there before the invocation that is taken back.",
    without=_without_kept_state,
)
BAD_ANSWER = Difference(
    "Answers that do not fit the output schema",
    here="The answer is in the history, followed by an error event; ValueError says what is wrong.",
    there="The answer is lost; there is only the error event, and ValidationError is raised.",
    why="Whoever wonders about the error wants to see what the model said.",
    without=_without_bad_answers,
)
ONE_ID = Difference(
    "Ids of streamed answers",
    here="All fragments of an answer and the whole answer have one id, also if a planner writes"
    " state meanwhile.",
    there="Each event of a planner's state gives what follows a new id.",
    why="Clients put the whole answer in the place of its fragments by the id.",
    without=_without_ids,
)
FRAGMENTS_IN_STEP = Difference(
    "Hooks around fragments",
    here="`on_event` of a fragment is called before the model is asked for the next fragment.",
    there="Fragments of agents with a model are queued: `after_model` of later fragments may come"
    " before `on_event` of earlier ones.",
    why="The loop takes one event after the other (runtime seed).",
)
CUT_RESPONSES = Difference(
    "Answers out of order",
    here="When a human answers an older call after a newer one, the model is told the newest"
    " response to every call.",
    there="A response that was given between the older call and its answer is not told; the model"
    " sees what the tool had returned before.",
    why="The model must not go on from what is no longer so.",
    without=_without_told_responses,
)
SIGNALS_OF_GENERATORS = Difference(
    "Signals of generator tools",
    here="What a generator sets in `tool_context.actions`, such as `escalate`, stands in the event"
    " of its response, as with any tool.",
    there="`skip_summarization` does; other signals are lost.",
    why="A tool that tells of its progress is a tool all the same.",
)
GENERATORS_IN_WORKFLOWS = Difference(
    "Generator tools below Sequential, Loop, Parallel and custom agents",
    here="They work as elsewhere.",
    there="RuntimeError.",
    why="Where an agent stands should not decide which tools it can have.",
)
ARGUMENTS_AT_ONCE = Difference(
    "Arguments of a streamed call that come as a whole",
    here="They are kept beside those that come in pieces.",
    there="They are lost.",
    why="The model has given them.",
)
EXPLAINED_ENDS = Difference(
    "Answers of Gemini that end with a code",
    here="The event says in words what the code means; a chunk without content is no fragment.",
    there="It has the code alone; a chunk without content is a fragment with the code.",
    why="People need a sentence, and once is enough.",
    without=lambda record: _without_error_messages(_events_where(_is_whole)(record)),
)
EMPTY_STREAMS = Difference(
    "Streams of Gemini without content",
    here="An error event says that the model has said nothing, as it does without streaming.",
    there="There is no event.",
    why="Whoever waits for an answer must see that there is none.",
)
SILENT_NODE_TOOLS = Difference(
    "Workflows as tools that give nothing",
    here="The model gets `{result: null}` and goes on.",
    there="The run ends, and the call is never answered.",
    why="A workflow that sends a letter gives nothing; its work is done.",
)
FAILED_NODE_TOOLS = Difference(
    "Errors of nodes that are tools",
    here="The node that failed leaves one error event.",
    there="The agent whose model called it leaves a second one.",
    why="It is one error.",
    without=_events_where(_without_errors),
)
NODE_TOOLS_IN_WORKFLOWS = Difference(
    "Nodes as tools below Sequential, Loop, Parallel and custom agents",
    here="They work as elsewhere.",
    there="RuntimeError.",
    why="Where an agent stands should not decide which tools it can have.",
)
ASKING_NODE_TOOLS = Difference(
    "Questions of nodes that tools run",
    here="The tool, its agent and, in a workflow, the node that the agent is wait for the answer;"
    " then the tool gets it.",
    there="In a workflow the next node is run without input. A tool that runs the node with"
    " `run_node` makes it ask again.",
    why="An answer of the user must not be lost.",
)
SAME_QUESTIONS = Difference(
    "Two open questions with the same id",
    here="The node that asks second fails, and the error says which other node waits.",
    there="Both are asked, and what waits for them never goes on.",
    why="An answer with that id could be for either. Once answered, an id may be used again.",
)
PARALLEL_ROOT = Difference(
    "An agent with `parallel_worker` as root",
    here="It talks with the user.",
    there="It runs as a node for each item of the message.",
    why="It is the message of one user; as nodes of a Workflow such agents work as there.",
)
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
    without=_events_where(lambda event: _without_errors(event) and not _answers(event, "expert")),
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
