"""Differences on purpose that the generators of cases leave out."""

from tests.differential.case import Difference

ALIASED_ANSWERS = Difference(
    "Aliases and limits of an output schema, beside tools",
    here="`set_model_response` declares its parameters by their aliases, with their limits and"
    " whether there may be others.",
    there="By the names of the fields, without those.",
    why="The answer is checked against all of them: the model has to know.",
)
REFUSED_FILES = Difference(
    "Artifacts that FileArtifactService refuses",
    here="Nothing is left of them.",
    there="Their names are listed, without a version.",
    why="A list of files is of those that can be loaded.",
)
TEMPORARY_OF_THE_DELETED = Difference(
    "Events for a session that was deleted",
    here="The session object stays as it was.",
    there="The `temp:` keys of the event are put into it.",
    why="What was refused has no effect.",
)
NAMELESS_FILES = Difference(
    '`session_id=""` of DatabaseSessionService',
    here="A new id is made up, as the other services do.",
    there="The session has the empty id.",
    why="Nobody means the empty name.",
)
CREDENTIALS_TWICE = Difference(
    "A credential that is given a second time",
    here="The call that asked for it has its result; nothing is run again.",
    there="The call is run again.",
    why="A form that was sent twice should not act twice.",
)
PARTS_AS_CONTENTS = Difference(
    "`Event(content=types.Part(...))`, and the same of an LlmResponse",
    here="It is refused, with the line to write.",
    there="The content is empty.",
    why="What was to be said would be lost without a word.",
)
ODD_DELTAS = Difference(
    "`actions.state_delta` and `artifact_delta` that are no dict",
    here="They are refused where they are assigned; any mapping is taken as a dict.",
    there="They are taken; the run ends where they are used.",
    why="The author's own line is where the mistake is.",
)
SAID_BY_USERS = Difference(
    "What `run_debug` prints",
    here="The user's line, too.",
    there="The agents' lines.",
    why="A transcript has both.",
)
