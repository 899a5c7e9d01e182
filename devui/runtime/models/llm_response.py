"""`LlmResponse`: what a model answers, whole or in fragments (adk-runtime 1.1)."""

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
"""Seconds: as long as a request may take to be worked on."""


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
    """Hash of what is cacheable: instructions, tools and the first contents."""
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
                "Give cache_name, expire_time and invocations_used together, or none of them for a"
                " fingerprint without a cache."
            )
        return self

    @property
    def expire_soon(self) -> bool:
        """Whether the cache ends within two minutes, or has ended."""
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
    """What the model says and calls; None if it only tells of an error, or of nothing."""
    grounding_metadata: types.GroundingMetadata | None = None
    """The sources of the answer."""
    partial: bool | None = None
    """True for a fragment of a streamed answer; the whole answer follows."""
    turn_complete: bool | None = None
    """Live mode: the model has said all."""
    turn_complete_reason: types.TurnCompleteReason | None = None
    """Live mode: why the model has stopped."""
    interaction_status: InteractionStatus | None = None
    """For models whose provider keeps the conversation."""
    finish_reason: types.FinishReason | None = None
    """Why the model stopped, in a whole answer."""
    error_code: str | None = None
    """Why the answer failed: a reason to finish or to block, or a code of the runtime's own."""
    error_message: str | None = None
    """What went wrong, in a sentence."""
    interrupted: bool | None = None
    """Live mode: the user began to speak over the answer."""
    custom_metadata: dict[str, Any] | None = None
    """Free labels; must be JSON-able."""
    usage_metadata: types.GenerateContentResponseUsageMetadata | None = None
    """Tokens of the request and of the answer."""
    live_session_resumption_update: types.LiveServerSessionResumptionUpdate | None = None
    """Live mode: by what the connection can be taken up again."""
    live_session_id: str | None = None
    """Live mode."""
    go_away: types.LiveServerGoAway | None = None
    """Live mode: the server is about to close the connection."""
    voice_activity: types.VoiceActivity | None = None
    """Live mode: whether a voice is heard."""
    input_transcription: types.Transcription | None = None
    """Live mode: the user's speech in writing."""
    output_transcription: types.Transcription | None = None
    """Live mode: the model's speech in writing."""
    avg_logprobs: float | None = None
    """The mean log probability of the answer's tokens."""
    logprobs_result: types.LogprobsResult | None = None
    """The probabilities of single tokens."""
    cache_metadata: CacheMetadata | None = None
    """The cache that the request has used."""
    citation_metadata: types.CitationMetadata | None = None
    """What the answer quotes."""
    interaction_id: str | None = None
    """For models whose provider keeps the conversation."""
    environment_id: str | None = None
    """Where such a provider ran code."""

    _wanted_content: ClassVar[str] = A_CONTENT
    """What to give as the content."""

    @field_validator("content", mode="before")
    @classmethod
    def _advise(cls, content: Any) -> Any:
        if isinstance(content, str | types.Part):  # of a Part an empty Content would be made
            raise PydanticCustomError(
                "content_type", "this has to be {wanted}", {"wanted": cls._wanted_content}
            )
        return content

    def get_function_calls(self) -> list[types.FunctionCall]:
        """The function calls of the content, in the order of its parts."""
        content = self.content
        calls = []
        for part in (content.parts if content else None) or ():
            if call := part.function_call:
                calls.append(call)  # noqa: PERF401  before Python 3.12 a comprehension is a call
        return calls

    def get_function_responses(self) -> list[types.FunctionResponse]:
        """The function responses of the content, in the order of its parts."""
        content = self.content
        responses = []
        for part in (content.parts if content else None) or ():
            if response := part.function_response:
                responses.append(response)  # noqa: PERF401  as above
        return responses

    @staticmethod
    def create(generate_content_response: types.GenerateContentResponse) -> "LlmResponse":
        """Read candidate 0 of a Gemini response, or why there is none (adk-runtime 1.1)."""
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
            "The model answered without candidates and without feedback; "
            "taken as an empty, successful answer."
        )
        return LlmResponse(
            content=types.Content(role="model", parts=[]),
            usage_metadata=response.usage_metadata,
            model_version=response.model_version,
        )


def _from_candidate(
    response: types.GenerateContentResponse, candidate: types.Candidate
) -> LlmResponse:
    """A candidate with parts, or one that finished with STOP, is a success; others are errors."""
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
