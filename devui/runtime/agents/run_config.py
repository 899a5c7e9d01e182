"""`RunConfig`: how one run behaves (adk-runtime 4.2)."""

import logging
import os
import sys
from enum import Enum, StrEnum
from typing import Any, Self

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from devui.runtime.later_types import TranslationConfig
from devui.runtime.mistakes import refuse_unknown
from devui.runtime.sessions.base_session_service import GetSessionConfig
from devui.runtime.telemetry.context import TelemetryConfig

logger = logging.getLogger(__name__)

_DEFAULT_MAX_LLM_CALLS = 500


class StreamingMode(Enum):
    """How model answers are delivered."""

    NONE = None
    """In one piece."""
    SSE = "sse"
    """In fragments, followed by the whole answer."""
    BIDI = "bidi"
    """Live, both ways."""


class ServiceTier(StrEnum):
    """The service tiers with a name; others are given as strings."""

    FLEX = "flex"
    STANDARD = "standard"
    PRIORITY = "priority"
    DEFERRED = "deferred"


class ToolThreadPoolConfig(BaseModel):
    """Accepted for compatibility: sync tools always run in threads here."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    max_workers: int = Field(default=4, ge=1)
    """The number of threads."""


def _max_llm_calls() -> int:
    setting = os.environ.get("ADK_MAX_LLM_CALLS") or _DEFAULT_MAX_LLM_CALLS
    try:
        return int(setting)
    except ValueError:
        logger.warning(
            "ADK_MAX_LLM_CALLS is %r, which is not an integer: using the default limit, %s.",
            setting,
            _DEFAULT_MAX_LLM_CALLS,
        )
        return _DEFAULT_MAX_LLM_CALLS


class RunConfig(BaseModel):
    """Settings of one run. Live mode settings are stored and passed on, but have no effect."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, defer_build=True)

    speech_config: types.SpeechConfig | None = None
    """Live mode."""
    http_options: types.HttpOptions | None = None
    """Options that override those of each model request."""
    labels: dict[str, str] | None = None
    """Labels for the provider's billing; they take precedence over those of the agents."""
    service_tier: ServiceTier | str | None = None
    """Stored, but not sent to models."""
    response_modalities: list[types.Modality] | None = None
    """Live mode: text, audio or images."""
    avatar_config: types.AvatarConfig | None = None
    """Live mode."""
    save_input_blobs_as_artifacts: bool = False
    """Whether files in a user message become artifacts, each replaced by a note."""
    support_cfc: bool = False
    """Live mode: whether a model may make calls from its own code."""
    streaming_mode: StreamingMode = StreamingMode.NONE
    """With SSE, models answer in fragments, which arrive as partial events."""
    output_audio_transcription: types.AudioTranscriptionConfig | None = Field(
        default_factory=types.AudioTranscriptionConfig
    )
    """Live mode: how the model's speech is transcribed."""
    input_audio_transcription: types.AudioTranscriptionConfig | None = Field(
        default_factory=types.AudioTranscriptionConfig
    )
    """Live mode: how the user's speech is transcribed."""
    realtime_input_config: types.RealtimeInputConfig | None = None
    """Live mode: how the user's speech is detected."""
    explicit_vad_signal: bool | None = None
    """Live mode: whether the model signals that it hears a voice."""
    translation_config: TranslationConfig | None = None
    """Live mode."""
    enable_affective_dialog: bool | None = None
    """Live mode: whether the model adapts to the user's mood."""
    proactivity: types.ProactivityConfig | None = None
    """Live mode: whether the model may leave input unanswered."""
    session_resumption: types.SessionResumptionConfig | None = None
    """Live mode: whether a connection can be resumed."""
    history_config: types.HistoryConfig | None = None
    """Live mode."""
    context_window_compression: types.ContextWindowCompressionConfig | None = None
    """Live mode: how a long conversation is compressed."""
    save_live_blob: bool = False
    """Live mode: whether to keep audio and video as artifacts."""
    tool_thread_pool_config: ToolThreadPoolConfig | None = None
    """Accepted for compatibility: plain functions always run in threads."""
    save_live_audio: bool = False
    """The former name of `save_live_blob`."""
    max_llm_calls: int = Field(default_factory=_max_llm_calls)
    """Model calls allowed in one invocation; 0 or less allows any number."""
    custom_metadata: dict[str, Any] | None = None
    """Labels for every event of the run."""
    telemetry: TelemetryConfig | None = None
    """What the run's spans contain; None leaves that to the environment."""
    get_session_config: GetSessionConfig | None = None
    """How much of the history the Runner reads."""
    model_input_context: list[types.Content] | None = None
    """Contents put before the user's message in each request, but not into the history."""
    include_thoughts_from_other_agents: bool = False
    """Whether an agent sees what other agents thought, not only what they said."""

    @model_validator(mode="before")
    @classmethod
    def _check_given(cls, values: Any) -> Any:
        refuse_unknown("RunConfig", values, cls.model_fields)
        return values

    @field_validator("max_llm_calls")
    @classmethod
    def _check_max_llm_calls(cls, value: int) -> int:
        if value >= sys.maxsize:
            raise ValueError(f"max_llm_calls must be less than {sys.maxsize}; 0 means no limit.")
        if value <= 0:
            logger.warning("max_llm_calls is %d: the number of model calls is not limited.", value)
        return value

    @model_validator(mode="after")
    def _check_combinations(self) -> Self:
        if self.service_tier == "deferred" and self.streaming_mode is StreamingMode.SSE:
            raise ValueError("The deferred service tier cannot stream; use another tier or NONE.")
        if self.save_live_audio:
            self.save_live_blob = True
        return self
