"""The differences on purpose in what is kept, in the words of the guide."""

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
    "Pictures in instructions",
    here="`{artifact.a.png}` stands for the file's type and size.",
    there="It stands for the bytes as Python writes them, and for all empty fields of the part.",
    why="An instruction is text: the bytes are of no use to a model, and cost tokens.",
)
DOCUMENTS = Difference(
    "Signs in documents",
    here="The text of a file of a word processor has its signs: `Tom & Jerry`.",
    there="They stay as XML has them: `Tom &amp; Jerry`.",
    why="A model, and who is shown its answer, reads text.",
)
HIDDEN_FILES = Difference(
    "Files that are asked for beside other contents of the request",
    here="What `load_artifacts` is asked for is shown, wherever the response stands.",
    there=(
        "It is shown only if the response is the last content: not behind memories of"
        " `preload_memory`, nor behind an instruction beside a static one, nor beside another such"
        " tool."
    ),
    why="The model has been told that it is shown, and would ask again or make it up.",
)
NAMELESS = Difference(
    "Files without a name in FileArtifactService",
    here="InputValidationError.",
    there="An empty name becomes `artifact`; `.` and blanks are taken.",
    why="A file of another name than was asked for is not found again.",
)
APPENDED_TWICE = Difference(
    "Events that are appended twice to sessions in files",
    here="An event that the session has already is left alone, whichever service keeps it.",
    there="InMemorySessionService does so; SQLite and database sessions raise IntegrityError.",
    why="Whoever tries an append again after an error must not fail for its success.",
)
AHEAD = Difference(
    "Sessions that were begun where the clock is ahead",
    here="Where the time of the session's last event is yet to come, what a run adds gets a time"
    " after that, and so comes last when the session is read again from a file.",
    there="It has the time of the clock: read again, which is by time, it stands amid or before"
    " what was said before.",
    why="A conversation that goes on elsewhere, or after a clock was set, has to stay in order.",
)
SYNC_URLS = Difference(
    "`sqlite:///` URLs of DatabaseSessionService",
    here="They are taken, like `sqlite+aiosqlite:///`.",
    there="ValueError: the driver is not asynchronous.",
    why="There is no SQLAlchemy here, and so no driver to choose.",
)
MAIN = Difference(
    "`__name__` in code that UnsafeLocalCodeExecutor runs",
    here="`__main__`, as in a script.",
    there="`__main__` if the code asks for just that, else `builtins`.",
    why="The code is run as a script.",
)
SHARED = Difference(
    "Events of a session in memory that was read",
    here="They are the stored ones, as are those that a run yields: `InMemorySessionService` makes"
    " no copies of events, so who changes one changes what is stored. `event.model_copy(deep=True)`"
    " is one to change. The list of the events and the state are the reader's own.",
    there="`get_session` gives copies. The events that a run yields are the stored ones, too.",
    why="Copies of all events with each turn make long sessions slow; what has happened is to be"
    " read, and not to be changed.",
    without=_without_last_words,
)
DEBUG_LOG = Difference(
    "The file of DebugLoggingPlugin",
    here="It has what the user said, and a document of a run that failed or was left, too. The"
    " documents are JSON, which is YAML, so that no package is needed.",
    there="A run that fails leaves nothing in it, and what the user said is missing.",
    why="Runs that fail are those one wants to read about.",
    without=_without_first_and_failed,
)

MARKED_LETTERS = Difference(
    "Words of a memory with marks on their letters",
    here="A word is found as it is written, in Hindi, Bengali, Tamil or Thai, too.",
    there="A word ends at each mark, so that some find texts with one of its letters.",
    why="What is found is given to the model; it should be what was asked for.",
)
