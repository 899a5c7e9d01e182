"""The differences on purpose in what agents, models and callbacks share or add."""

from tests.differential.case import Difference

EDITING_MODEL = Difference(
    "A model class of one's own that edits the contents of its request in place",
    here="It edits the session's own events; it should put changed copies into the list. Callbacks,"
    " plugins and steps of one's own get copies, down to the arguments of calls.",
    there="Contents and parts are copied for each request; the arguments of calls are not.",
    why="A copy of a long conversation for each request takes longer than all the rest of a turn.",
)

SAME_AGENT = Difference(
    "Code that changes the fields of its own agent",
    here="An agent is one object in all runs: what a callback assigns to its fields stays.",
    there="An agent with a model is copied for each run, unless it is below a workflow agent.",
    why="A copy for each turn takes as long as the turn itself; an instruction that depends on the"
    " session is a function.",
)

ADDED_TO_STRUCTURE = Difference(
    "Adding to a system instruction that is no text",
    here="A content or a list, which a callback or a tool may have put there, gets a part more.",
    there="A warning is logged, and what was to be added is left out.",
    why="Instructions must not be lost, least of all those of planners and toolsets.",
)

HANDS_OVER_WITH_OPEN_CALL = Difference(
    "A transfer while a long-running call is open",
    here="The agent that is transferred to takes its turn at once.",
    there="The turn ends with the transfer; it speaks when the user says something more.",
    why="The user has asked, and would wait for an answer that nobody gives.",
)
