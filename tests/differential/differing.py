"""The differences on purpose that cases show, in the words of the guide."""

from tests.differential.case import Difference

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
ODD_RESULTS = Difference(
    "Tool results that JSON cannot hold",
    here="What JSON cannot hold becomes its `repr`, and keys become texts; the event is stored.",
    there="The event cannot be turned into JSON, or the run ends with a validation error.",
    why="One odd value should not lose an event, and with it the run.",
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
)
WHO_FAILED = Difference(
    "Author of an error event",
    here="The agent that failed.",
    there="After a transfer, the root agent if the failing agent had not yet said anything.",
    why="It is the failing agent that needs to be looked at.",
)
ERRORS_IN_WORKFLOWS = Difference(
    "Errors below Sequential, Loop, Parallel and custom agents",
    here="An agent with a model that fails leaves an error event in the history, wherever it is in"
    " the tree.",
    there="It does so only if the root is an agent with a model.",
    why="The history must show why a run ended (events seed).",
)
USER_MESSAGE = Difference(
    "`yield_user_message`",
    here="Holds for every kind of root agent.",
    there="Is ignored if the root is a Sequential, Loop, Parallel or custom agent.",
    why="The Runner's contract is the same for every kind of root agent.",
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
