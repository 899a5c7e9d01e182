"""`LlmResponse`: a model's answer, complete or in fragments (adk-runtime 1.1)."""

import logging
from typing import Any, ClassVar, Self

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from devui.runtime.later_types import InteractionStatus
from devui.runtime.mistakes import A_CONTENT
from devui.runtime.platform.time import get_time

# What a response says about the context cache it used (adk-runtime 9.6).


_ABOUT_TO = 120.0
"""The margin before a cache's expiry, in seconds: how long a request may take."""


class CacheMetadata(BaseModel):
    """The state of one context cache, as recorded in the events of the agent that used it.

    Its JSON keys stay snake_case (as in google-adk), although those around it are camelCase.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    cache_name: str | None = None
    """Name of the provider's cache; None while there is only a fingerprint."""
    expire_time: float | None = None
    """When the cache expires, in unix seconds."""
    fingerprint: str
    """Hash of what can be cached: instructions, tools and the first contents."""
    invocations_used: int | None = Field(default=None, ge=0)
    """How many invocations have used this cache."""
    contents_count: int = Field(ge=0)
    """How many contents the fingerprint covers."""
    created_at: float | None = None
    """When the cache was created, in unix seconds."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        of_cache = (self.cache_name, self.expire_time, self.invocations_used)
        if len({each is None for each in of_cache}) > 1:
            raise ValueError(
                "Pass cache_name, expire_time and invocations_used together, or none of them for a"
                " fingerprint without a cache."
            )
        return self

    @property
    def expire_soon(self) -> bool:
        """Whether the cache expires within two minutes, or has expired."""
        return self.expire_time is not None and get_time() > self.expire_time - _ABOUT_TO


logger = logging.getLogger(__name__)


class LlmResponse(BaseModel):
    """A model's answer, or one chunk of it (`partial=True`).

    The order of the fields is the order of the keys in JSON (adk-runtime 1.2).
    """

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", defer_build=True
    )

    model_version: str | None = None
    """The model that answered, as its service names it."""
    content: types.Content | None = None
    """The model's text and calls; None for an error, or if the model sent neither."""
    grounding_metadata: types.GroundingMetadata | None = None
    """The sources of the answer."""
    partial: bool | None = None
    """True for a fragment of a streamed answer; the whole answer follows."""
    turn_complete: bool | None = None
    """Live mode: whether the model has finished its turn."""
    turn_complete_reason: types.TurnCompleteReason | None = None
    """Live mode: why the model's turn ended."""
    interaction_status: InteractionStatus | None = None
    """For models whose provider keeps the conversation."""
    finish_reason: types.FinishReason | None = None
    """Why the model stopped, in a whole answer."""
    error_code: str | None = None
    """Why the answer failed: a finish reason, a block reason, or a code of the runtime's own."""
    error_message: str | None = None
    """What went wrong, in a sentence."""
    interrupted: bool | None = None
    """Live mode: whether the user began to speak during the answer."""
    custom_metadata: dict[str, Any] | None = None
    """Custom labels; must be JSON-serializable."""
    usage_metadata: types.GenerateContentResponseUsageMetadata | None = None
    """Tokens of the request and of the answer."""
    live_session_resumption_update: types.LiveServerSessionResumptionUpdate | None = None
    """Live mode: what is needed to resume the connection."""
    live_session_id: str | None = None
    """Live mode."""
    go_away: types.LiveServerGoAway | None = None
    """Live mode: the server is about to close the connection."""
    voice_activity: types.VoiceActivity | None = None
    """Live mode: whether someone is speaking."""
    input_transcription: types.Transcription | None = None
    """Live mode: the user's speech as text."""
    output_transcription: types.Transcription | None = None
    """Live mode: the model's speech as text."""
    avg_logprobs: float | None = None
    """The mean log probability of the answer's tokens."""
    logprobs_result: types.LogprobsResult | None = None
    """The probabilities of single tokens."""
    cache_metadata: CacheMetadata | None = None
    """The cache that the request used."""
    citation_metadata: types.CitationMetadata | None = None
    """The sources that the answer quotes."""
    interaction_id: str | None = None
    """For models whose provider keeps the conversation."""
    environment_id: str | None = None
    """The environment in which that provider ran code."""

    _wanted_content: ClassVar[str] = A_CONTENT
    """What error messages say to pass as the content."""

    @field_validator("content", mode="before")
    @classmethod
    def _advise(cls, content: Any) -> Any:
        if isinstance(content, str | types.Part):  # a Part would become an empty Content
            raise PydanticCustomError(
                "content_type", "must be {wanted}", {"wanted": cls._wanted_content}
            )
        return content

    def get_function_calls(self) -> list[types.FunctionCall]:
        """Return the content's function calls, in the order of its parts."""
        content = self.content
        calls = []
        for part in (content.parts if content else None) or ():
            if call := part.function_call:
                calls.append(call)  # noqa: PERF401  before Python 3.12 a comprehension is a call
        return calls

    def get_function_responses(self) -> list[types.FunctionResponse]:
        """Return the content's function responses, in the order of its parts."""
        content = self.content
        responses = []
        for part in (content.parts if content else None) or ():
            if response := part.function_response:
                responses.append(response)  # noqa: PERF401  as above
        return responses

    @staticmethod
    def create(generate_content_response: types.GenerateContentResponse) -> "LlmResponse":
        """Convert a Gemini response's candidate 0, or why there is none (adk-runtime 1.1)."""
        response = generate_content_response
        if response.candidates:
            return _from_candidate(response, response.candidates[0])
        if feedback := response.prompt_feedback:
            return LlmResponse(
                error_code=feedback.block_reason,
                error_message=feedback.block_reason_message,
                usage_metadata=response.usage_metadata,
                model_version=response.model_version,
            )
        logger.warning(
            "The model returned neither candidates nor feedback; "
            "treating this as an empty, successful answer."
        )
        return LlmResponse(
            content=types.Content(role="model", parts=[]),
            usage_metadata=response.usage_metadata,
            model_version=response.model_version,
        )


def _from_candidate(
    response: types.GenerateContentResponse, candidate: types.Candidate
) -> LlmResponse:
    """Convert a candidate: a success if it has parts or finished with STOP, otherwise an error."""
    has_parts = bool(candidate.content and candidate.content.parts)
    succeeded = has_parts or candidate.finish_reason == types.FinishReason.STOP
    return LlmResponse(
        content=candidate.content if succeeded else None,
        grounding_metadata=candidate.grounding_metadata if succeeded else None,
        error_code=None if succeeded else candidate.finish_reason,
        error_message=None if succeeded else candidate.finish_message,
        usage_metadata=response.usage_metadata,
        finish_reason=candidate.finish_reason,
        citation_metadata=candidate.citation_metadata,
        avg_logprobs=candidate.avg_logprobs,
        logprobs_result=candidate.logprobs_result,
        model_version=response.model_version,
    )
