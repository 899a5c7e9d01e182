"""Runs that failed because a model's service got no key, or one that it refuses."""

import re
from typing import Final

from devui.debugger.apps.apps import AppFolder
from devui.web.panels.recovery.parts import MissingKey

_MISSING: Final = re.compile(
    r"No API key was provided"  # google-genai
    r"|Missing key inputs argument"  # older versions of it
    r"|Set OPENAI_API_KEY in the environment"  # devui.runtime
    r"|api_key client option must be set"  # OpenAI
    r"|Missing \w+ API Key"  # LiteLLM
)
_REFUSED: Final = re.compile(
    r"API key not valid|API_KEY_INVALID|API key expired|API key was reported as leaked"  # Gemini
    r"|Incorrect API key provided|invalid x-api-key"  # OpenAI, Anthropic
)
_VARIABLE: Final = re.compile(r"\b[A-Z]+(?:_[A-Z]+)*_API_KEY\b")
_GOOGLE: Final = ("GOOGLE_API_KEY", "GEMINI_API_KEY")


def missing_key(error: str, apps: AppFolder, app: str) -> MissingKey | None:
    """What to do about an error of a model without a valid key; None for any other error."""
    is_missing = bool(_MISSING.search(error))
    if not is_missing and not _REFUSED.search(error):
        return None
    name = next(iter(_VARIABLE.findall(error)), _GOOGLE[0])
    is_google = name in _GOOGLE
    return MissingKey(
        is_refused=not is_missing,
        variable=_GOOGLE[0] if is_google else name,
        file=str((apps.place(app) / ".env").relative_to(apps.path.parent)),
        is_google=is_google,
        is_hosted=bool(apps.objects),
    )
