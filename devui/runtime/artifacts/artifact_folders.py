"""Where `FileArtifactService` keeps a file, and which names it refuses (adk-runtime 10.1).

    <root>/apps/<app>/users/<user>/sessions/<session>/artifacts/<file>/versions/<n>/
    <root>/apps/<app>/users/<user>/artifacts/<file>/versions/<n>/

A version's folder holds the payload, under the last part of the file's name, and metadata.json.
"""

from pathlib import Path, PurePosixPath, PureWindowsPath

from devui.runtime.artifacts.arguments import USER_PREFIX, check_name
from devui.runtime.errors.input_validation_error import InputValidationError

VERSIONS = "versions"
METADATA = "metadata.json"


def user_folder(root: Path, app_name: str, user_id: str) -> Path:
    """The folder of a user; raises InputValidationError for names that no folder can have."""
    return root / "apps" / _segment("app_name", app_name) / "users" / _segment("user_id", user_id)


def scope_folder(user: Path, session_id: str | None) -> Path:
    """The folder of a session's artifacts, or of the user's own when there is no session."""
    if session_id is None:
        return user / "artifacts"
    return user / "sessions" / _segment("session_id", session_id) / "artifacts"


def artifact_folder(user: Path, filename: str, session_id: str | None) -> Path:
    """The folder of one file with all its versions.

    A name that begins with `user:`, and any name without a session, belongs to the user. A name
    may have folders (`charts/may.png`); raises InputValidationError for one that leads elsewhere
    or that the layout needs for itself.
    """
    check_name(filename)
    belongs_to_user = session_id is None or filename.startswith(USER_PREFIX)
    scope = scope_folder(user, None if belongs_to_user else session_id).resolve()
    relative = _relative(filename)
    folder = (scope / relative).resolve()
    if not folder.is_relative_to(scope):  # through a symbolic link
        raise InputValidationError(f"Artifact name {filename!r} leads out of its folder.")
    return folder


def _relative(filename: str) -> PurePosixPath:
    bare = filename.removeprefix(USER_PREFIX).strip()
    windows = PureWindowsPath(bare)  # knows both kinds of separator, and drives
    if windows.root or windows.drive:
        raise InputValidationError(
            f"Artifact name {filename!r} is absolute or names a drive; give a relative name."
        )
    relative = PurePosixPath(windows.as_posix())
    if not relative.parts:
        raise InputValidationError(f"Artifact name {filename!r} is empty.")
    if ".." in relative.parts or "\0" in bare:
        raise InputValidationError(f"Artifact name {filename!r} must not contain '..' or NUL.")
    if VERSIONS in {part.rstrip(" .").casefold() for part in relative.parts}:
        raise InputValidationError(
            f"Artifact name {filename!r} contains {VERSIONS!r}, where versions are stored."
        )
    if relative.name.rstrip(" .").casefold() == METADATA:
        raise InputValidationError(f"The artifact name {METADATA!r} is reserved.")
    return relative


def _segment(what: str, value: str) -> str:
    if not value or value in {".", ".."} or any(sign in value for sign in "/\\\0"):
        raise InputValidationError(f"{what} {value!r} cannot be the name of a folder.")
    return value
