"""Intended differences that the generated cases avoid."""

from tests.differential.case import Difference

ALIASED_ANSWERS = Difference(
    "Aliases and constraints of an output schema, with tools",
    here="`set_model_response` declares its parameters by alias, with their constraints and"
    " whether others are allowed.",
    there="It declares them by field name, without those.",
    why="The answer is validated against all of them, so the model must know them.",
)
REFUSED_FILES = Difference(
    "Artifacts that FileArtifactService rejects",
    here="Nothing remains of them.",
    there="Their names are listed, without a version.",
    why="A list should contain only artifacts that can be loaded.",
)
TEMPORARY_OF_THE_DELETED = Difference(
    "Appending events to a deleted session",
    here="The session object doesn't change.",
    there="The event's `temp:` keys are added to it.",
    why="A rejected event has no effect.",
)
NAMELESS_FILES = Difference(
    '`session_id=""` of DatabaseSessionService',
    here="A new id is generated, as in the other services.",
    there="The session has the empty id.",
    why="An empty id is never intended.",
)
CREDENTIALS_TWICE = Difference(
    "A credential given twice",
    here="The call that asked for it already has its result; nothing runs again.",
    there="The call runs again.",
    why="Submitting a form twice should not act twice.",
)
PARTS_AS_CONTENTS = Difference(
    "`Event(content=types.Part(...))`, and the same of an LlmResponse",
    here="It raises an error that shows the correct line.",
    there="The content is empty.",
    why="The message would be lost silently.",
)
ODD_DELTAS = Difference(
    "`actions.state_delta` and `artifact_delta` that are not dicts",
    here="They are rejected where they are assigned; any mapping is accepted as a dict.",
    there="They are accepted; the run fails where they are used.",
    why="The error should point to the author's own line.",
)
SAID_BY_USERS = Difference(
    "What `run_debug` prints",
    here="The user's and the agents' lines.",
    there="Only the agents' lines.",
    why="A transcript includes both.",
)
