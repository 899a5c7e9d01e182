"""The differences on purpose in what files become, in the words of the guide."""

from tests.differential.case import Difference

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
