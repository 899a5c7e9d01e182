"""Intended differences in what is stored, with the texts of the guide."""

from typing import Any

from tests.differential.case import Difference

Json = Any


def _without_last_words(record: Json) -> Json:
    for session in record["sessions"].values():
        session["events"][-1].pop("content")
    return record


def _without_first_and_failed(record: Json) -> Json:
    notes = [note for note in record["notes"] if note[0] != "user_message"]
    failed = any(note[0] == "invocation_error" for note in notes)
    return {**record, "notes": [] if failed else notes}


PICTURES = Difference(
    "Images in instructions",
    here="`{artifact.a.png}` is replaced by the artifact's type and size.",
    there="It is replaced by the Python representation of the bytes and of all empty fields of the"
    " part.",
    why="An instruction is text: the bytes are useless to a model and cost tokens.",
)
DOCUMENTS = Difference(
    "Special characters in documents",
    here="The text of a word processor document has its characters: `Tom & Jerry`.",
    there="They stay XML-escaped: `Tom &amp; Jerry`.",
    why="Models and people read text, not XML.",
)
HIDDEN_FILES = Difference(
    "Requested artifacts next to other request contents",
    here="An artifact requested with `load_artifacts` is shown wherever the response is.",
    there=(
        "It is shown only if the response is the last content: not behind memories of"
        " `preload_memory`, nor behind an instruction beside a static one, nor beside another such"
        " tool."
    ),
    why="The model was told that the artifact is shown, and would ask again or invent it.",
)
NAMELESS = Difference(
    "Artifacts without a name in FileArtifactService",
    here="They raise InputValidationError.",
    there="An empty name becomes `artifact`; `.` and whitespace are accepted.",
    why="An artifact stored under a different name can't be found again.",
)
APPENDED_TWICE = Difference(
    "Events appended twice to stored sessions",
    here="Appending an event the session already has does nothing, in every service.",
    there="InMemorySessionService does so; SQLite and database sessions raise IntegrityError.",
    why="Retrying an append after an error must not fail because the first one succeeded.",
)
AHEAD = Difference(
    "Sessions started where the clock is ahead",
    here="If the session's last event is in the future, new events get a later time, so they come"
    " last when the session is read from a file.",
    there="They get the current time: read back, which sorts by time, they appear before earlier"
    " events.",
    why="A conversation that continues on another machine, or after the clock was set, must stay"
    " in order.",
)
SYNC_URLS = Difference(
    "`sqlite:///` URLs of DatabaseSessionService",
    here="They are accepted, like `sqlite+aiosqlite:///`.",
    there="ValueError: the driver is not asynchronous.",
    why="The runtime doesn't use SQLAlchemy, so there is no driver to choose.",
)
MAIN = Difference(
    "`__name__` in code that UnsafeLocalCodeExecutor runs",
    here="It is `__main__`, as in a script.",
    there="It is `__main__` only if the code compares it with exactly that, otherwise `builtins`.",
    why="The code is run as a script.",
)
SHARED = Difference(
    "Events of a session read from memory",
    here="They are the stored ones, like those a run yields: `InMemorySessionService` doesn't copy"
    " events, so changing one changes the stored one. To change one, use"
    " `event.model_copy(deep=True)`. The event list and the state are copies.",
    there="`get_session` returns copies. Events yielded by a run are the stored ones.",
    why="Copying all events every turn makes long sessions slow, and past events shouldn't be"
    " changed.",
    without=_without_last_words,
)
DEBUG_LOG = Difference(
    "The file of DebugLoggingPlugin",
    here="It includes the user's messages and documents of runs that failed or were abandoned. The"
    " documents are JSON, which is valid YAML, so no package is needed.",
    there="Failed runs leave nothing in it, and the user's messages are missing.",
    why="Failed runs are the ones you want to read about.",
    without=_without_first_and_failed,
)

MARKED_LETTERS = Difference(
    "Words with combining marks in memories",
    here="Words are matched as written, also in Hindi, Bengali, Tamil and Thai.",
    there="A word ends at each mark, so some words match texts that share a single letter.",
    why="Results go to the model and should match the query.",
)
