"""What the methods of an artifact service are given, checked (adk-runtime 10.1)."""

from operator import index
from typing import SupportsIndex

from devui.runtime.errors.input_validation_error import InputValidationError
from devui.runtime.mistakes import given

USER_PREFIX = "user:"
"""How the names of files begin that belong to the user, and are seen in all sessions."""


def check_name(filename: object) -> None:
    """Refuse what cannot be the name of a file.

    Raises:
        InputValidationError: it is no text.
    """
    if not isinstance(filename, str):
        raise InputValidationError(f"`filename` is {given(filename)}; give a text.")


def version_number(version: object) -> int | None:
    """The number of a version, also as one of numpy's; None for the newest.

    Raises:
        InputValidationError: it is no whole number, and not None.
    """
    if version is None:
        return None
    if not isinstance(version, SupportsIndex):
        raise InputValidationError(
            f"`version` is {given(version)}; give its number, the first being 0, or leave it out"
            " for the newest."
        )
    return index(version)
