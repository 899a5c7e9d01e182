"""Runs that failed because a model's service got no key or refused it."""

import re
from typing import Final, NamedTuple

from devui.debugger.apps.apps import AppFolder
from devui.web.panels.recovery.parts import MissingKey


class _Message(NamedTuple):
    """A message about a key from a service, or from the library that calls it."""

    pattern: str
    variable: str
    """The variable with the key, if the error doesn't name one; `\\1` stands for a group."""
    is_refused: bool = False


_MESSAGES: Final = (
    _Message("No API key was provided|Missing key inputs argument", "GOOGLE_API_KEY"),
    _Message("Set OPENAI_API_KEY in the environment", "OPENAI_API_KEY"),  # devui.runtime
    _Message(
        r"api_key client option must be set|Missing credentials\. Please pass an `api_key`",
        "OPENAI_API_KEY",
    ),
    _Message(r"Missing (\w+) API Key", r"\1_API_KEY"),  # LiteLLM
    _Message(
        "API key not valid|API_KEY_INVALID|API key expired|API key was reported as leaked",
        "GOOGLE_API_KEY",
        is_refused=True,
    ),
    _Message("Incorrect API key provided", "OPENAI_API_KEY", is_refused=True),
    _Message("invalid x-api-key", "ANTHROPIC_API_KEY", is_refused=True),
)
_VARIABLE: Final = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_API_KEY\b")
_GOOGLE: Final = ("GOOGLE_API_KEY", "GEMINI_API_KEY")


def missing_key(error: str, apps: AppFolder, app: str) -> MissingKey | None:
    """Return what to do about a missing or invalid model key; None for any other error."""
    for message in _MESSAGES:
        if match := re.search(message.pattern, error):
            break
    else:
        return None
    named = _VARIABLE.search(error)
    name = named[0] if named else match.expand(message.variable).upper()
    is_google = name in _GOOGLE
    return MissingKey(
        is_refused=message.is_refused,
        variable=_GOOGLE[0] if is_google else name,
        file=str((apps.place(app) / ".env").relative_to(apps.path.parent)),
        is_google=is_google,
        is_hosted=bool(apps.objects),
    )
