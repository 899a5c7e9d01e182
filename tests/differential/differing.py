"""The differences on purpose that cases show, in the words of the guide."""

from tests.differential.case import Difference
from tests.differential.records import Json, events_where, without_errors


def _is_whole(event: Json) -> bool:
    return not event.get("partial")


def _without_error_messages(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            event.pop("errorMessage", None)
    return record


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
NAMELESS_TARGET = Difference(
    "A call of `transfer_to_agent` whose `agent_name` is no text",
    here="The model is told so, and may call it again.",
    there="The turn ends without an answer.",
    why="A model can mend the call that it has written.",
)
MISNAMED_TARGET = Difference(
    "Calls of `transfer_to_agent` with a name that is not offered",
    here="The model is told so, and which names are valid; it may call again.",
    there="The run ends with ValueError or WorkflowDataError.",
    why="A model can mend the call that it has written, as it can one of a tool that is not there.",
)
FAILED_TRANSFER = Difference(
    "Transfers that are not allowed",
    here="Code that hands over to an agent itself, to a stranger or past its own parent, peers and"
    " children ends the run with ValueError, and the history says so in an error event.",
    there="ValueError or WorkflowDataError is raised, and the history says nothing.",
    why="Whoever looks at the history must see why the run ended (events seed).",
    without=lambda record: events_where(without_errors)(_without_error_types(record)),
)
WHO_FAILED = Difference(
    "Author of an error event",
    here="The agent that failed.",
    there="After a transfer, the root agent if the failing agent had not yet said anything; in a"
    " Workflow the workflow.",
    why="It is the failing agent that needs to be looked at.",
    without=_without_authors_of_errors,
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
    without=events_where(_says_or_does_something),
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
    without=lambda record: _without_error_messages(events_where(_is_whole)(record)),
)
PARALLEL_ROOT = Difference(
    "An agent with `parallel_worker` as root",
    here="It talks with the user.",
    there="It runs as a node for each item of the message.",
    why="It is the message of one user; as nodes of a Workflow such agents work as there.",
)
