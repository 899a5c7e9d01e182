"""What the methods of an artifact service are given, checked (adk-runtime 10.1)."""

from devui.runtime.errors.input_validation_error import InputValidationError
from devui.runtime.mistakes import given


def check_name(filename: object) -> None:
    """Refuse what cannot be the name of a file.

    Raises:
        InputValidationError: it is no text.
    """
    if not isinstance(filename, str):
        raise InputValidationError(f"`filename` is {given(filename)}; give a text.")


def check_version(version: object) -> None:
    """Refuse what cannot be the number of a version.

    Raises:
        InputValidationError: it is no whole number, and not None.
    """
    if version is not None and not isinstance(version, int):
        raise InputValidationError(
            f"`version` is {given(version)}; give its number, the first being 0, or leave it out"
            " for the newest."
        )
