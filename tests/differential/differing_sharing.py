"""The differences on purpose in what agents and models share with others."""

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
