"""`TelemetryConfig`: what the spans and log records of a run contain (adk-runtime 13)."""

import enum
import os
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, PrivateAttr, StrictBool

ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN = "ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN"
"""`1` selects the spans of google-adk before 2.13: `invocation`, `call_llm`."""
OTEL_SEMCONV_STABILITY_OPT_IN = "OTEL_SEMCONV_STABILITY_OPT_IN"
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT = (
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
)
ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS = "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS"
"""Whether schema 1's `gcp.vertex.agent.*` attributes contain message content; on by default."""
ADK_TELEMETRY_IGNORE_RUN_CONFIG = "ADK_TELEMETRY_IGNORE_RUN_CONFIG"
ADK_EXPERIMENTAL_TELEMETRY = "ADK_EXPERIMENTAL_TELEMETRY"

_ON = {"1", "true"}
_OFF = {"0", "false"}
_LEGACY = {"1", "otel_semconv_1_36"}
_LATEST = "gen_ai_latest_experimental"


class ContentCapturingMode(enum.Enum):
    """Where message content may go: nowhere, into log records, into spans, or both."""

    NO_CONTENT = "NO_CONTENT"
    EVENT_ONLY = "EVENT_ONLY"
    SPAN_ONLY = "SPAN_ONLY"
    SPAN_AND_EVENT = "SPAN_AND_EVENT"


_IN_SPANS = {ContentCapturingMode.SPAN_ONLY, ContentCapturingMode.SPAN_AND_EVENT}
_IN_LOGS = {ContentCapturingMode.EVENT_ONLY, ContentCapturingMode.SPAN_AND_EVENT}


class TelemetryConfig(BaseModel):
    """Telemetry settings of one run (`RunConfig.telemetry`); None leaves one to the environment.

    The environment is read when the config is created. With `ADK_TELEMETRY_IGNORE_RUN_CONFIG=1`,
    it overrides these fields.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    genai_semconv_stability_opt_in: Literal["stable", "experimental"] | None = None
    """Overrides `OTEL_SEMCONV_STABILITY_OPT_IN`."""
    capture_message_content: ContentCapturingMode | None = None
    """Overrides `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`."""
    adk_experimental_telemetry_opt_in: StrictBool | None = None
    """Accepted for compatibility: google-adk's `adk.experimental.*` is not emitted here."""
    experimental_features_opt_in: frozenset[str] | None = None
    """Accepted for compatibility, like the field above."""

    _locked: bool = PrivateAttr()
    _legacy: bool = PrivateAttr()
    _latest: bool = PrivateAttr()
    _mode: ContentCapturingMode = PrivateAttr()
    _in_adk_spans: bool = PrivateAttr()
    _experimental: bool = PrivateAttr()

    def model_post_init(self, _context: Any) -> None:
        """Read the environment, once."""
        self._locked = _setting(ADK_TELEMETRY_IGNORE_RUN_CONFIG) in _ON
        self._legacy = _setting(ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN) in _LEGACY
        self._latest = _LATEST in [
            each.strip() for each in _setting(OTEL_SEMCONV_STABILITY_OPT_IN).split(",")
        ]
        self._mode = _mode(_setting(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT))
        self._in_adk_spans = _setting(ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS) not in _OFF
        self._experimental = _setting(ADK_EXPERIMENTAL_TELEMETRY) in _ON

    def __eq__(self, other: object) -> bool:
        """Compare the fields, but not the environment that was read."""
        return type(other) is type(self) and vars(self) == vars(other)

    def __hash__(self) -> int:
        """Hash the fields, but not the environment that was read."""
        return hash(tuple(vars(self).values()))

    @property
    def uses_legacy_schema(self) -> bool:
        """Whether spans follow schema 1."""
        return self._legacy

    @property
    def should_use_experimental_genai_semconv(self) -> bool:
        """Whether model calls have the latest conventions' attributes, as schema 2 does."""
        if not self._locked and self.genai_semconv_stability_opt_in is not None:
            return self.genai_semconv_stability_opt_in == "experimental"
        return self._latest or not self._legacy

    @property
    def resolved_content_capturing_mode(self) -> ContentCapturingMode:
        """Where message content goes."""
        return self._own_mode or self._mode

    @property
    def content_capturing_mode_value(self) -> str:
        """The value of `resolved_content_capturing_mode`; empty for nowhere."""
        mode = self.resolved_content_capturing_mode
        return "" if mode is ContentCapturingMode.NO_CONTENT else mode.value

    @property
    def should_add_content_to_logs(self) -> bool:
        """Whether log records contain message content."""
        return self.resolved_content_capturing_mode in _IN_LOGS

    @property
    def should_add_content_to_experimental_spans(self) -> bool:
        """Whether the conventions' attributes contain message content."""
        return self.resolved_content_capturing_mode in _IN_SPANS

    @property
    def should_add_content_to_legacy_spans(self) -> bool:
        """Whether schema 1's `gcp.vertex.agent.*` attributes contain message content."""
        return self._in_adk_spans if self._own_mode is None else self._own_mode in _IN_SPANS

    @property
    def should_emit_experimental_telemetry(self) -> bool:
        """Whether google-adk would emit `adk.experimental.*`."""
        if not self._locked and self.adk_experimental_telemetry_opt_in is not None:
            return self.adk_experimental_telemetry_opt_in
        return self._experimental

    @property
    def _own_mode(self) -> ContentCapturingMode | None:
        return None if self._locked else self.capture_message_content


def _setting(name: str) -> str:
    return os.environ.get(name, "").strip().lower()


def _mode(setting: str) -> ContentCapturingMode:
    if setting in _ON:
        return ContentCapturingMode.EVENT_ONLY
    mode = ContentCapturingMode.__members__.get(setting.upper())
    return mode or ContentCapturingMode.NO_CONTENT
