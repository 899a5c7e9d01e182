"""Intended differences in what agents, models and callbacks share or add."""

from tests.differential.case import Difference

EDITING_MODEL = Difference(
    "A custom model class that edits its request's contents in place",
    here="It edits the session's own events; it should put changed copies into the list instead."
    " Callbacks, plugins and custom steps get copies, including the arguments of calls.",
    there="Contents and parts are copied for each request; the arguments of calls are not.",
    why="Copying a long conversation for each request would take longer than the rest of a turn.",
)

SAME_AGENT = Difference(
    "Code that changes its agent's fields",
    here="An agent is one object in all runs: what a callback assigns to its fields persists.",
    there="An agent with a model is copied for each run, unless it is below a workflow agent.",
    why="A copy for each turn takes as long as the turn; for an instruction that depends on the"
    " session, use a function.",
)

ADDED_TO_STRUCTURE = Difference(
    "Appending to a system instruction that isn't text",
    here="If a callback or tool has put a content or list there, another part is appended.",
    there="A warning is logged, and the addition is dropped.",
    why="Instructions must not be lost, least of all those of planners and toolsets.",
)

HANDS_OVER_WITH_OPEN_CALL = Difference(
    "A transfer while a long-running call is open",
    here="The target agent takes its turn at once.",
    there="The turn ends with the transfer; the agent answers only after the user's next message.",
    why="Otherwise the user would wait for an answer that never comes.",
)
