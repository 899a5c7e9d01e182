"""What a response says about the context cache it used (adk-runtime 9.6)."""

from pydantic import BaseModel, ConfigDict

from devui.runtime.platform.time import get_time

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
    invocations_used: int | None = None
    """How many invocations have used this cache."""
    contents_count: int
    """How many contents the fingerprint covers."""
    created_at: float | None = None
    """When the cache was created, in unix seconds."""

    @property
    def expire_soon(self) -> bool:
        """Whether the cache ends within two minutes, or has ended."""
        return self.expire_time is not None and get_time() > self.expire_time - _ABOUT_TO
