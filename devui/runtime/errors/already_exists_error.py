"""`AlreadyExistsError` (adk-runtime 0)."""

from typing import Self


class AlreadyExistsError(Exception):
    """What was to be created exists already."""

    def __init__(self, message: str = "The resource already exists.") -> None:
        self.message = message
        super().__init__(message)

    @classmethod
    def of_session(cls, session_id: str) -> Self:
        """Of a session whose id is taken."""
        return cls(
            f"Session {session_id!r} exists already. Read it with get_session, or give the new one"
            " another id or none."
        )
