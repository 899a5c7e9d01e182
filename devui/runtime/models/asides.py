"""Contents of one request alone, such as a file that the model has asked for (adk-runtime 8.8)."""

from collections.abc import Iterator

from google.genai import types


class Aside(types.Content):
    """A content that is shown in one request, and never kept in the history.

    An instruction that had to move out of the system instruction, a memory, a file: it may stand
    behind what tools have just answered, and hides nothing of it (adk-runtime 6.3, 7.3, 8.8).
    """


def newest_first(contents: list[types.Content]) -> Iterator[types.Content]:
    """What has been said, from the last content on, past asides."""
    return (content for content in reversed(contents) if not isinstance(content, Aside))
