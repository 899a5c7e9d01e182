"""The differences on purpose in how the answers of humans are taken, in the words of the guide."""

from tests.differential.case import Difference

ANSWERED_TOGETHER = Difference(
    "Agents side by side that are answered in one message",
    here="Each of them gets its answer, and goes on.",
    there="Only the first does. Another is left waiting, or its model goes on without the answer"
    " and calls the tool again.",
    why="An answer of the user must not be lost.",
)
