"""Which models are Gemini's, by their names (adk-runtime 8.8)."""

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
    """Whether the model takes Gemini's server-side tools."""
    return is_gemini_model_id_check_disabled() or is_gemini_model(model)


def is_gemini_model_id_check_disabled() -> bool:
    """Whether all models pass for Gemini's where tools ask for one.

    The environment variable `ADK_DISABLE_GEMINI_MODEL_ID_CHECK` (1 or true) makes it so.
    """
    return os.environ.get(_CHECK_DISABLED, "").lower() in {"1", "true"}


def extract_model_name(model_string: str) -> str:
    """The name without the path of its provider; of others' models the whole."""
    if match := _PATH.fullmatch(model_string):
        return str(match[match.lastgroup or 0])
    name = model_string.rpartition("/")[2]
    is_path = model_string.startswith("projects/")
    return name if name.startswith("gemini-") and not is_path else model_string


def is_gemini_model(model_string: str | None) -> bool:
    """Whether the name is that of a Gemini model, whoever serves it."""
    return _name(model_string).startswith("gemini-")


def is_gemini_1_model(model_string: str | None) -> bool:
    """Whether it is one of the first generation."""
    return re.match(r"gemini-1\.\d", _name(model_string)) is not None


def is_gemini_eap_or_2_or_above(model_string: str | None) -> bool:
    """Whether it is one of the second generation or a later one, or one for early access."""
    name = _name(model_string)
    version = _VERSION.fullmatch(name)
    return bool(_EARLY.fullmatch(name) or (version and int(version["major"]) >= 2))


def is_gemini_3_5_live_translate(model_string: str | None) -> bool:
    """Whether it is the one that translates speech."""
    return _name(model_string).startswith("gemini-3.5-live-translate")


def _name(model_string: str | None) -> str:
    return extract_model_name(model_string or "")
