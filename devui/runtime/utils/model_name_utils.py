"""Recognizes Gemini's models by their names (adk-runtime 8.8)."""

import os
import re

_CHECK_DISABLED = "ADK_DISABLE_GEMINI_MODEL_ID_CHECK"
_PATH = re.compile(
    r"projects/[^/]+/locations/[^/]+/publishers/[^/]+/models/(?P<vertex>.+)"
    r"|apigee/(?:[^/]+/){0,2}(?P<apigee>.+)"
    r"|models/(?P<plain>.+)"
)
_VERSION = re.compile(r"gemini-(?P<major>\d+)(\.\d+)*(-.*)?")
_EARLY = re.compile(r"gemini-([a-z0-9_]+-)*early-exp\d*")


def takes_server_tools(model: str | None) -> bool:
    """Return whether the model supports Gemini's server-side tools."""
    return is_gemini_model_id_check_disabled() or is_gemini_model(model)


def is_gemini_model_id_check_disabled() -> bool:
    """Return whether tools that require a Gemini model accept all models.

    The environment variable `ADK_DISABLE_GEMINI_MODEL_ID_CHECK` (1 or true) makes them.
    """
    return os.environ.get(_CHECK_DISABLED, "").lower() in {"1", "true"}


def extract_model_name(model_string: str) -> str:
    """Return the name without its provider's path; other providers' names stay whole."""
    if match := _PATH.fullmatch(model_string):
        return str(match[match.lastgroup or 0])
    name = model_string.rpartition("/")[2]
    is_path = model_string.startswith("projects/")
    return name if name.startswith("gemini-") and not is_path else model_string


def is_gemini_model(model_string: str | None) -> bool:
    """Return whether the name is that of a Gemini model, whoever serves it."""
    return _name(model_string).startswith("gemini-")


def is_gemini_1_model(model_string: str | None) -> bool:
    """Return whether it is a Gemini model of the first generation."""
    return re.match(r"gemini-1\.\d", _name(model_string)) is not None


def is_gemini_eap_or_2_or_above(model_string: str | None) -> bool:
    """Return whether it is one of the second generation or a later one, or for early access."""
    name = _name(model_string)
    version = _VERSION.fullmatch(name)
    return bool(_EARLY.fullmatch(name) or (version and int(version["major"]) >= 2))


def is_gemini_3_5_live_translate(model_string: str | None) -> bool:
    """Return whether it is the model that translates speech."""
    return _name(model_string).startswith("gemini-3.5-live-translate")


def _name(model_string: str | None) -> str:
    return extract_model_name(model_string or "")
