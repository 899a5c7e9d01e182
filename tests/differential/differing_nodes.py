"""The differences on purpose in nodes of workflows, and in tools that are nodes."""

from tests.differential.case import Difference
from tests.differential.records import Json, events_where, without_errors


def _without_places_of_errors(record: Json) -> Json:
    for holder in (*record["runs"], *record["sessions"].values()):
        for event in holder["events"]:
            if "errorCode" in event:
                event["nodeInfo"] = "?"
                event["errorMessage"] = "?"  # quotes what is missing here, what is there there
    return record


def _without_repeated_outputs(event: Json) -> bool:
    """Whether it is none: google-adk repeats an output without saying for whom."""
    return "output" not in event or "outputFor" in event["nodeInfo"]


UNFIT_INPUT = Difference(
    "Place of an error about a node's input",
    here="The node whose input, or parameter, it is.",
    there="The workflow around it, if the node or the parameter has a type that is checked"
    " before the node begins.",
    why="The history has to show which node it was.",
    without=_without_places_of_errors,
)
INPUTS_WITHOUT_JSON = Difference(
    "Inputs of agents that hold what JSON does not know",
    here="Models in a dict or a list are told as JSON, dates and such as texts.",
    there="TypeError.",
    why="The same values are told by themselves, in both.",
)
EMPTY_TASKS = Difference(
    "Inputs of task agents that are empty",
    here="The agent is told what the user has said, as one of mode `single_turn` is.",
    there="Its model is asked with an empty text, or with nothing.",
    why="Services refuse such a request.",
)
TASKS_BEHIND_START = Difference(
    "The message that a Workflow began with, when a task agent in it gets more words",
    here="It stays the input of what follows START, and what the agent was told first.",
    there="The latest message is in its place: the first is lost, and the latest is told twice.",
    why="Without what the user wants the agent cannot finish its task.",
)
ROUTE_FORMS = Difference(
    "Routes that are a tuple, a set or a member of an Enum",
    here="`ctx.route` is several routes, or the value of the member, as the event tells it.",
    there="No edge fits it, but one with DEFAULT_ROUTE. With `Event(route=...)`, and when the"
    " workflow goes on, it is as here.",
    why="A graph must go the way that its history tells.",
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
    without=events_where(_without_repeated_outputs),
)
ERRORS_IN_WORKFLOWS = Difference(
    "Errors below Sequential, Loop, Parallel and custom agents",
    here="An agent with a model that fails leaves an error event in the history, wherever it is in"
    " the tree.",
    there="It does so only if the root is an agent with a model.",
    why="The history must show why a run ended (events seed).",
    without=events_where(without_errors),
)
GENERATORS_IN_WORKFLOWS = Difference(
    "Generator tools below Sequential, Loop, Parallel and custom agents",
    here="They work as elsewhere.",
    there="RuntimeError.",
    why="Where an agent stands should not decide which tools it can have.",
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
    without=events_where(without_errors),
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
REFUSED_MESSAGE = Difference(
    "A user's message that a plugin refuses",
    here="`on_run_error_callback` hears of it, whatever the root agent is.",
    there="It does so if the root is an agent with a model.",
    why="The run has failed, and the hook is there to hear of that.",
)
NAMELESS_NODES = Difference(
    "Objects that can be called, as nodes",
    here="They need a name: `node(thing, name=...)`.",
    there="Each is named `__call__`.",
    why="The name is all that the history tells of a node.",
)
SEEN_OUTPUTS = Difference(
    "What `on_event` sees of the answer of an agent that is a node",
    here="The text is in the content, as in the stored event; `output` is None.",
    there="`output` has the text while hooks look at the event.",
    why="Hooks see the event that is committed.",
)
SEVERAL_TASKS = Difference(
    "Words for several task agents that ask side by side in a Workflow",
    here="The one that has asked last gets them; the others go on waiting.",
    there="Each gets them as its answer.",
    why="Words answer one question.",
)
