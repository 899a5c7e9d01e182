"""Intended differences in objects that code creates: agents, contexts, models and files."""

from tests.differential.case import Difference

TOOLS_OF_MODES = Difference(
    "Tools added by an agent's mode",
    here="`agent.tools` is what the author passed; `canonical_tools()` adds `finish_task` and the"
    " agents that are called like functions.",
    there="They are added to `agent.tools` when the agent is created.",
    why="A list you pass, perhaps to several agents, should not change.",
)
NARROWER_NAMES = Difference(
    "Custom models for names covered by another class",
    here="If several classes of LLMRegistry match a model's name, the one registered last is used.",
    there="The one registered first is used: a class for `gemini-mine` never is, since Gemini has"
    " `gemini-.*`.",
    why="Registering a class for a name should have an effect.",
)
UNKNOWN_FIELDS = Difference(
    "Creating an InvocationContext incorrectly",
    here="InvocationContext raises TypeError, with the name of the missing or unknown field.",
    there="It raises ValidationError.",
    why="One is created for each agent that runs. It has the methods of a pydantic model that"
    " agents use but isn't one, because validating its fields would take longer than the rest of a"
    " turn.",
)
DUPLICATE_TOOLS = Difference(
    "Tools with the same name",
    here="An agent with two tools of the same name raises DuplicateToolError with both places:"
    " when it is created or, for toolsets that list their tools during a run, at the first"
    " request. The same function from two sources is declared once; listed twice by the agent, it"
    " is an error.",
    there="Both declarations are sent, and the later tool is called. Gemini rejects the request.",
    why="A model that was told about one tool shouldn't call another.",
)
BRACES = Difference(
    "Literal braces in instructions",
    here="`{lbrace}` and `{rbrace}` are braces, unless the state has such a key: `{lbrace}name}`"
    " says `{name}`. The error of a missing key says so.",
    there="No text produces `{name}`; the instruction must be a function.",
    why="Prompts contain code. As in google-adk, `{{name}}` is filled from the state, and `{a:"
    " 1}`, `${name}` and `\\{name}` stay unchanged.",
)
ARGUMENT_TYPES = Difference(
    "Tool arguments and annotations",
    here="An argument is converted to its annotation by pydantic's rules: an Enum, date, UUID,"
    ' Decimal, dataclass, set, models in any container, an int from `"7"`. Constraints such as'
    " `Field(ge=1)` apply. If conversion fails, the function isn't called, and the call's error"
    " names the argument and what was expected. Callbacks and events have the arguments as the"
    " model wrote them. A value equal to the parameter's default is accepted as it is, such as"
    " null for `x: str = None`, and a number is accepted as text.",
    there="Only models and lists of one model are converted; everything else reaches the function"
    " as the model wrote it. With `FUNCTION_TOOL_ARG_VALIDATION`, arguments are converted.",
    why="A function that expects a date and gets text fails the run; a model that is told about"
    " its mistake can correct it.",
)
SWITCHES = Difference(
    "Feature switches",
    here="The runtime does what google-adk does by default: `ADK_ENABLE_...` and `ADK_DISABLE_...`"
    " in the environment have no effect, and `override_feature_enabled` warns about that.",
    there="They switch features on and off, such as the older form of declarations.",
    why="A switch makes two runtimes out of one, and one of them is rarely tested.",
)
INTERACTIONS = Difference(
    "Gemini's interactions API",
    here="`Gemini(use_interactions_api=True)` raises an error, and flows have no step"
    " `interactions`.",
    there="Google stores the conversation; the step finds the id of the last answer, which the"
    " next request continues.",
    why="The history stays here, so you can inspect, edit and repeat requests.",
)
NAMELESS_SESSIONS = Difference(
    "Sessions with an empty id in a database",
    here="They get a UUID, as with every other service.",
    there="The empty string is their id.",
    why="No address can refer to it.",
)
