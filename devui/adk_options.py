"""The options of google-adk's server that devui doesn't support, and what to do instead.

They apply to the options of `adk web`, `adk api_server` and `adk run`, and to the keywords of
`get_fast_api_app`, which have the same names.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

_CLOUD: Final = (
    "devui sends nothing to Google Cloud; see the trace of a session, or export traces with"
    " OTEL_EXPORTER_OTLP_ENDPOINT"
)
_TRIGGERS: Final = "let the source of the events call POST /run with the bearer token"
_LOGO: Final = "the page has devui's name on it"
_ENTERPRISE: Final = "register agents that are deployed, with `adk api_server`"

INSTEAD: Final[Mapping[str, str]] = {
    "a2a": "devui serves no A2A endpoints; `adk api_server --a2a` does",
    "artifact_service_uri": "devui keeps artifacts with the sessions, in --data-dir",
    "avatar_config": "devui has no live mode",
    "eval_storage_uri": "keep sessions as tests with `devui make-test`; `adk eval` works as before",
    "express_mode": _ENTERPRISE,
    "gemini_enterprise_app_name": _ENTERPRISE,
    "logo_image_url": _LOGO,
    "logo_text": _LOGO,
    "otel_to_cloud": _CLOUD,
    "session_service_uri": "devui keeps sessions in a journal of its own: choose its folder with"
    " --data-dir, or give sqlite:///folder/name.db or memory://",
    "trace_to_cloud": _CLOUD,
    "trigger_oidc_audience": _TRIGGERS,
    "trigger_oidc_service_accounts": _TRIGGERS,
    "trigger_sources": _TRIGGERS,
    "url_prefix": "devui serves its pages at the root of a host: give it a host name of its own"
    " behind the proxy",
}
"""What to do instead, by option name; each completes a sentence."""


def is_in_memory(uri: str) -> bool:
    """Return whether a session service's URI asks for in-memory sessions."""
    return urlsplit(uri).scheme == "memory"


def folder_beside(uri: str) -> Path | None:
    """Return `folder/name.devui` for `sqlite:///folder/name.db`; None for other services."""
    if urlsplit(uri).scheme.partition("+")[0] != "sqlite":
        return None
    return Path(uri.partition(":///")[2]).with_suffix(".devui")
