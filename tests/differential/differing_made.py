"""The differences on purpose in what is made by hand: agents, contexts, models and files."""

from tests.differential.case import Difference

TOOLS_OF_MODES = Difference(
    "Tools that come with the mode of an agent",
    here="`agent.tools` is what the author has given; `canonical_tools()` has `finish_task` and the"
    " agents that are called like functions, too.",
    there="They are put into `agent.tools` when the agent is made.",
    why="A list that somebody gives, perhaps to several agents, stays as it is.",
)
NARROWER_NAMES = Difference(
    "Models of one's own for some names of another class",
    here="Of the classes of LLMRegistry that fit a model's name, the one registered last is used.",
    there="It is the one registered first: a class for `gemini-mine` is never used, as Gemini has"
    " `gemini-.*`.",
    why="Whoever registers a class for a name wants it to be used.",
)
IDS_WITH_SLASHES = Difference(
    "Slashes in the ids of artifacts",
    here="An app, user or session id with a slash is refused with InputValidationError.",
    there="It is taken.",
    why="The ids are put together with slashes: files of two users could come to be the same.",
)
UNKNOWN_FIELDS = Difference(
    "Contexts of an invocation that are made wrongly",
    here="InvocationContext raises TypeError, with the name of the missing or unknown field.",
    there="It raises ValidationError.",
    why="One is made for each agent that runs: it has the methods of a pydantic model that agents"
    " use, and is none, because checking its fields takes longer than the rest of a turn.",
)
SWITCHES = Difference(
    "Switches of features",
    here="What google-adk does by default is what is done: `ADK_ENABLE_...` and `ADK_DISABLE_...`"
    " in the environment change nothing, and `override_feature_enabled` says so in a warning.",
    there="They switch features on and off, such as the check of all arguments of a function"
    " (`FUNCTION_TOOL_ARG_VALIDATION`) or the older form of declarations.",
    why="A switch makes two runtimes of one, of which one is seldom tried.",
)
INTERACTIONS = Difference(
    "Gemini's interactions API",
    here="`Gemini(use_interactions_api=True)` is refused, and flows have no step `interactions`.",
    there="The conversation is kept at Google; the step looks for the id of the last answer, which"
    " the next request goes on from.",
    why="The history is here: what a model was asked can be looked at, changed and asked again.",
)
NAMELESS_SESSIONS = Difference(
    "Sessions in a database whose id is an empty text",
    here="They get a UUID, as with every other service.",
    there="The empty text is their id.",
    why="No address leads to it.",
)
