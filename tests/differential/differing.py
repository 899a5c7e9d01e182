"""Intended differences shown by cases, with the texts of the guide."""

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
    there="Composite and custom roots raise it; agents with a model run.",
    why="An empty message is a mistake of the caller and should be reported the same way"
    " everywhere.",
)
BLANK_TEXT = Difference(
    "Blank text in the history",
    here="An answer of whitespace is omitted from later requests, like an empty one.",
    there="It is sent.",
    why="It has no meaning, and some providers reject a request with blank text.",
)
ORDER_OF_ANSWERS = Difference(
    "Order of late tool responses",
    here="A request has the responses of a batch in the order of the calls, even if some arrived"
    " later.",
    there="They are in order of arrival.",
    why="Models pair calls and responses by position: they don't see generated ids.",
)
NAMELESS_TARGET = Difference(
    "A call of `transfer_to_agent` whose `agent_name` isn't text",
    here="The model is told, and may call it again.",
    there="The turn ends without an answer.",
    why="A model can correct its own call.",
)
MISNAMED_TARGET = Difference(
    "Calls of `transfer_to_agent` with an unknown name",
    here="The model is told which names are valid, and may call it again.",
    there="The run fails with ValueError or WorkflowDataError.",
    why="A model can correct its own call, as with an unknown tool.",
)
FAILED_TRANSFER = Difference(
    "Transfers that are not allowed",
    here="If code transfers to the agent itself, to an unknown agent, or beyond its parent, peers"
    " and children, the run fails with ValueError and an error event in the history.",
    there="ValueError or WorkflowDataError is raised, and the history doesn't show it.",
    why="The history must show why the run ended (events seed).",
    without=lambda record: events_where(without_errors)(_without_error_types(record)),
)
WHO_FAILED = Difference(
    "Author of an error event",
    here="The agent that failed.",
    there="After a transfer, the root agent, if the failing agent hasn't said anything yet; in a"
    " Workflow, the workflow.",
    why="The failing agent is the one to look at.",
    without=_without_authors_of_errors,
)
USER_MESSAGE = Difference(
    "`yield_user_message`",
    here="It applies to every kind of root agent.",
    there="It is ignored if the root is a Sequential, Loop, Parallel or custom agent.",
    why="The Runner's contract is the same for every kind of root agent.",
    without=_without_yielded_users,
)
UNSIGNED_EVENTS = Difference(
    "Events without author or invocation",
    here="An event that a custom agent yields without `author` or `invocation_id` gets them.",
    there="They stay empty if the root is a custom agent.",
    why="The runtime seed's own examples omit them; a history needs both.",
)
END_INVOCATION = Difference(
    "`end_invocation`",
    here="A callback or tool that sets `end_invocation` on the invocation context ends its agent.",
    there="If the root is an agent with a model, it is set on a copy and has no effect.",
    why="This is what the field says.",
)
OFF_THE_LOOP = Difference(
    "Plain functions",
    here="Tools and callbacks that are plain functions run in threads, those of one batch of calls"
    " in parallel: if one reads, waits and then writes, it may overwrite what another wrote"
    " meanwhile, as with async functions. A function that needs the event loop, or something bound"
    " to its thread, such as a sqlite3 connection, must be `async def`; the error says so.",
    there="They run on the event loop and block it, unless `tool_thread_pool_config` is set.",
    why="A function that blocks must not stop the other runs of the process (runtime seed).",
)


def _without_exploring(value: Json) -> Json:
    """Mask texts and code that name the data file, which each runtime words differently."""
    if isinstance(value, dict):
        return {key: _without_exploring(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_exploring(each) for each in value]
    if isinstance(value, str) and ("`data_1_2" in value or "read_csv" in value):
        return "<names the file>"
    return value


EXPLORED_FILES = Difference(
    "Code that describes data files",
    here="With `optimize_data_file`, pandas prints types, missing and distinct values.",
    there="It prints the same in a different table.",
    why="Nothing was copied.",
    without=_without_exploring,
)
KEPT_CREDENTIALS = Difference(
    "SessionStateCredentialService",
    here="The state contains the credential as plain JSON.",
    there="It contains an object, which a service that writes JSON turns into a dict.",
    why="State is JSON, in every service.",
    without=_without_kept_credentials,
)
PLUGIN_STATE = Difference(
    "Bookkeeping of SaveFilesAsArtifactsPlugin",
    here="The plugin keeps its own records out of the session's state.",
    there="It leaves `save_files_as_artifacts_plugin:pending_delta` in the state.",
    why="State belongs to the agent's author.",
    without=_without_pending_delta,
)
EMPTY_EVENTS = Difference(
    "Empty events",
    here="Code run by the model itself leaves an event only if it created files.",
    there="Each answer is preceded by an event without content and without any change.",
    why="An event without content or changes doesn't help anyone who reads the history.",
    without=events_where(_says_or_does_something),
)
GUESSED_TOKENS = Difference(
    "Unmeasured prompt sizes",
    here="With `token_threshold`, a prompt the model hasn't measured counts by the length of what"
    " the agent is sent.",
    there="After a run, tool responses count together with the text that quotes another agent's"
    " messages, so summaries are made too early.",
    why="The agent gets its own responses unquoted.",
)
SUMMARY_PROMPT = Difference(
    "The summary prompt",
    here="`LlmEventSummarizer` has its own prompt.",
    there="The wording is different.",
    why="Nothing was copied. `prompt_template` works in both.",
    without=_without_summary_prompts,
)
KEPT_STATE = Difference(
    "Initial state and rewinds",
    here="A rewind restores it, and doesn't touch keys that no event has written. ADK's session"
    " files don't record it: there, keys that were written since are set to None.",
    there="It is set to None.",
    why="It existed before the invocation that is rewound.",
    without=_without_kept_state,
)
BAD_ANSWER = Difference(
    "Answers that don't match the output schema",
    here="The answer is in the history, followed by an error event; ValueError says what is wrong.",
    there="The answer is lost; there is only the error event, and ValidationError is raised.",
    why="To understand the error, you need to see the model's answer.",
    without=_without_bad_answers,
)
ONE_ID = Difference(
    "Ids of streamed answers",
    here="All chunks of an answer and the whole answer have the same id, even if a planner writes"
    " state in between.",
    there="Each state event of a planner gives what follows a new id.",
    why="Clients replace the chunks with the whole answer by id.",
    without=_without_ids,
)
FRAGMENTS_IN_STEP = Difference(
    "Hooks around chunks",
    here="`on_event` of a chunk is called before the next chunk is read from the model.",
    there="Chunks of agents with a model are queued: `after_model` of later chunks may be called"
    " before `on_event` of earlier ones.",
    why="The loop handles one event after the other (runtime seed).",
)
CUT_RESPONSES = Difference(
    "Answers out of order",
    here="If a person answers an older call after a newer one, the model gets the newest response"
    " to every call.",
    there="A response between the older call and its answer is omitted; the model sees what the"
    " tool returned before.",
    why="The model must not work with outdated results.",
    without=_without_told_responses,
)
SIGNALS_OF_GENERATORS = Difference(
    "Signals of generator tools",
    here="What a generator sets in `tool_context.actions`, such as `escalate`, is in the event of"
    " its response, as with any tool.",
    there="Only `skip_summarization` is; other signals are lost.",
    why="A tool that reports progress is still a tool.",
)
ARGUMENTS_AT_ONCE = Difference(
    "Arguments of a streamed call that arrive complete",
    here="They are kept together with those that arrive in chunks.",
    there="They are lost.",
    why="The model has sent them.",
)
EXPLAINED_ENDS = Difference(
    "Gemini answers that end with a code",
    here="The event explains the code in words; a chunk without content isn't yielded.",
    there="It has only the code; a chunk without content is yielded with the code.",
    why="People need a sentence, and one is enough.",
    without=lambda record: _without_error_messages(events_where(_is_whole)(record)),
)
PARALLEL_ROOT = Difference(
    "An agent with `parallel_worker` as root",
    here="It talks to the user.",
    there="It runs as a node for each item of the message.",
    why="The message comes from one user; as Workflow nodes such agents work the same in both.",
)
