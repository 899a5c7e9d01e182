"""Data for a log that others may read: plain, and without secrets (adk-runtime 10.4)."""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

from pydantic import BaseModel

from devui.runtime.auth.auth_credential import (
    AuthCredential,
    HttpAuth,
    HttpCredentials,
    OAuth2Auth,
    ServiceAccount,
    ServiceAccountCredential,
)
from devui.runtime.sessions.state import State

MASK = "[REDACTED]"

_CREDENTIALS = (
    AuthCredential,
    HttpAuth,
    HttpCredentials,
    OAuth2Auth,
    ServiceAccount,
    ServiceAccountCredential,
)
_DEEPEST = 20
"""Data that is within itself ends here."""
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where the words of `openaiApiKey` meet."""
_SECRET = re.compile(
    r"api_key|passwd|password|secret|credentials|private_key|(?:^|_)token$"
    r"|^(?:auth_code|auth_response_uri|authorization|code_verifier|google_access_id|sig|signature"
    r"|(?:proxy|x_amz|x_goog)_\w+)$"
)
"""Names of secrets, in small letters and with `_` between the words; no `prompt_token_count`."""
_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?"
    r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)


def masked(value: object, depth: int = 0) -> Any:
    """The value as JSON's types; what is a secret by its name, class or look becomes `MASK`.

    All of the state below `temp:` counts as secret: exchanged credentials are there. Of bytes
    only their number is kept, of what has no JSON form its repr.
    """
    if isinstance(value, _CREDENTIALS):
        return MASK
    if depth > _DEEPEST:
        return f"<{type(value).__name__} ...>"
    if isinstance(value, BaseModel):
        value = {name: each for name, each in value if each is not None}
    if isinstance(value, Mapping):
        return {
            str(name): MASK if is_secret(name) else masked(each, depth + 1)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [masked(each, depth + 1) for each in value]
    return _single(value.value if isinstance(value, Enum) else value)


def _single(value: object) -> Any:
    """What holds nothing else."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    return _PRIVATE_KEY.sub(MASK, str(value))


def is_secret(name: object) -> bool:
    """Whether data of that name is not to be written down."""
    if not isinstance(name, str):
        return False
    if name.startswith(State.TEMP_PREFIX):
        return True
    bare = name.removeprefix(State.APP_PREFIX).removeprefix(State.USER_PREFIX)
    return bool(_SECRET.search(_HUMPS.sub("_", bare).lower().replace("-", "_")))
