"""Intended differences in workflow nodes and in tools that are nodes."""

from tests.differential.case import Difference
from tests.differential.records import Json, events_where, without_errors


def _without_places_of_errors(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            if "errorCode" in event:
                event["nodeInfo"] = "?"
                event["errorMessage"] = "?"  # the quotations differ, too
    return record


def _without_repeated_outputs(event: Json) -> bool:
    """Whether the event isn't a repeated output; google-adk's repetitions lack `outputFor`."""
    return "output" not in event or "outputFor" in event["nodeInfo"]


UNFIT_INPUT = Difference(
    "Where an error in a node's input is reported",
    here="At the node with that input or parameter.",
    there="At the surrounding workflow, if the type is checked before the node starts.",
    why="The history must show which node it was.",
    without=_without_places_of_errors,
)
INPUTS_WITHOUT_JSON = Difference(
    "Agent inputs that JSON can't represent",
    here="Models in a dict or list are sent as JSON, dates and similar values as text.",
    there="They raise TypeError.",
    why="In both, the same values work on their own.",
)
EMPTY_TASKS = Difference(
    "Empty inputs of task agents",
    here="The agent gets the user's message, like one of mode `single_turn`.",
    there="Its model is called with an empty text, or with nothing.",
    why="Services reject such a request.",
)
TASKS_BEHIND_START = Difference(
    "A Workflow's first message, when a task agent in it gets more input",
    here="It stays the input of the nodes after START, and the agent's first message.",
    there="The latest message replaces it: the first is lost, and the latest is sent twice.",
    why="Without the user's request the agent can't finish its task.",
)
ROUTE_FORMS = Difference(
    "Routes that are tuples, sets or Enum members",
    here="`ctx.route` may be several routes, or an Enum member, which counts by its value, as"
    " recorded in the event.",
    there="No edge matches except DEFAULT_ROUTE. With `Event(route=...)`, and after a resumption,"
    " it works as in devui.",
    why="A graph must follow what its history records.",
)
SILENT_NODES = Difference(
    "Nodes without output, when a workflow is resumed",
    here="A node that finished without output, route or state change doesn't run again.",
    there="It runs again at each resumption.",
    why="A node that sends a letter returns nothing and must not send it twice.",
)
LOST_ORDER = Difference(
    "Node order, when a workflow is resumed",
    here="Finished nodes are taken from the history in its order; the others run.",
    there="If nodes run nodes in parallel in a nested workflow, it may wait 15 s for a node that"
    " never runs, and then raise WorkflowInvariantError.",
    why="A user's answer must not be lost.",
)
TEXT_ANSWERS = Difference(
    "Answers to questions for text",
    here="With response_schema=str, an answer such as 42 is text.",
    there="It is parsed as JSON, and then rejected because it isn't text.",
    why="Text was asked for.",
)
STOPPED_NODES = Difference(
    "Nodes stopped halfway",
    here="A node stopped after its first events runs again when the invocation is resumed.",
    there="It counts as finished, without output, unless it has rerun_on_resume=True.",
    why="It hasn't done its work.",
)
REPLAYED_NODES = Difference(
    "Node outputs, when a workflow is resumed in a resumable app",
    here="Each is yielded once, when the node has finished.",
    there="They are yielded again at each resumption.",
    why="The history already has them.",
    without=events_where(_without_repeated_outputs),
)
ERRORS_IN_WORKFLOWS = Difference(
    "Errors below Sequential, Loop, Parallel and custom agents",
    here="A failing agent with a model leaves an error event in the history, wherever it is in the"
    " tree.",
    there="It does so only if the root is an agent with a model.",
    why="The history must show why a run ended (events seed).",
    without=events_where(without_errors),
)
GENERATORS_IN_WORKFLOWS = Difference(
    "Generator tools below Sequential, Loop, Parallel and custom agents",
    here="They work as everywhere else.",
    there="They raise RuntimeError.",
    why="An agent's place in the tree shouldn't limit its tools.",
)
EMPTY_STREAMS = Difference(
    "Gemini streams without content",
    here="An error event says that the model returned nothing, as without streaming.",
    there="There is no event.",
    why="The user must see that there is no answer.",
)
SILENT_NODE_TOOLS = Difference(
    "Workflows as tools without output",
    here="The model gets `{result: null}` and continues.",
    there="The run ends, and the call is never answered.",
    why="A workflow that sends a letter returns nothing; its work is done.",
)
FAILED_NODE_TOOLS = Difference(
    "Errors of nodes used as tools",
    here="The failing node leaves one error event.",
    there="The calling agent leaves a second one.",
    why="It is one error.",
    without=events_where(without_errors),
)
NODE_TOOLS_IN_WORKFLOWS = Difference(
    "Nodes as tools below Sequential, Loop, Parallel and custom agents",
    here="They work as everywhere else.",
    there="They raise RuntimeError.",
    why="An agent's place in the tree shouldn't limit its tools.",
)
ASKING_NODE_TOOLS = Difference(
    "Questions of nodes run by tools",
    here="The tool, its agent and, in a workflow, the agent's node wait for the answer; then the"
    " tool gets it.",
    there="In a workflow the next node runs without input. A tool that runs the node with"
    " `run_node` makes it ask again.",
    why="A user's answer must not be lost.",
)
SAME_QUESTIONS = Difference(
    "Two open questions with the same id",
    here="The second node to ask fails, and the error names the node that waits.",
    there="Both are asked, and what waits for them never continues.",
    why="An answer with that id could be for either. Once answered, an id may be reused.",
)
REFUSED_MESSAGE = Difference(
    "A user message rejected by a plugin",
    here="`on_run_error_callback` is called, whatever the root agent is.",
    there="It is called if the root is an agent with a model.",
    why="The run has failed, which is what the hook is for.",
)
NAMELESS_NODES = Difference(
    "Callable objects as nodes",
    here="They require a name: `node(thing, name=...)`.",
    there="Each is named `__call__`.",
    why="The history identifies a node only by its name.",
)
SEEN_OUTPUTS = Difference(
    "What `on_event` sees of the answer of an agent node",
    here="The text is in the content, as in the stored event; `output` is None.",
    there="`output` has the text while hooks run.",
    why="Hooks should see the event that is committed.",
)
SEVERAL_TASKS = Difference(
    "Messages to several task agents that wait in parallel in a Workflow",
    here="The one that asked last gets them; the others keep waiting.",
    there="Each gets them as its answer.",
    why="A message answers one question.",
)
