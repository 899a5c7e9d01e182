"""Which models are Gemini's, by their names (adk-runtime 8.8)."""

import os
import re

_CHECK_DISABLED = "ADK_DISABLE_GEMINI_MODEL_ID_CHECK"
_PATH = re.compile(
    r"projects/[^/]+/locations/[^/]+/publishers/[^/]+/models/(?P<vertex>.+)"
    r"|apigee/(?:[^/]+/){0,2}(?P<apigee>.+)"
    r"|models/(?P<plain>.+)"
)


def is_gemini(model: str | None) -> bool:
    """Whether the model takes Gemini's server-side tools.

    The environment variable `ADK_DISABLE_GEMINI_MODEL_ID_CHECK` (1 or true) makes all do so.
    """
    if os.environ.get(_CHECK_DISABLED, "").lower() in {"1", "true"}:
        return True
    return _short(model or "").startswith("gemini-")


def _short(model: str) -> str:
    """The name without the path of its provider."""
    if match := _PATH.fullmatch(model):
        return str(match[match.lastgroup or 0])
    if model.startswith("projects/"):
        return model
    return model.rpartition("/")[2]
