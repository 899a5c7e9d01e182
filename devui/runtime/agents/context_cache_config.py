"""`ContextCacheConfig`: when the provider caches the common part of requests."""

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field


class ContextCacheConfig(BaseModel):
    """Settings of the context cache of an app (adk-runtime 3.1)."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    cache_intervals: int = Field(default=10, ge=1, le=100)
    """A cache is renewed after this many invocations."""
    ttl_seconds: int = Field(default=1800, gt=0)
    """How long the provider keeps a cache."""
    min_tokens: int = Field(default=0, ge=0)
    """Smaller requests are not cached."""
    create_http_options: types.HttpOptions | None = None
    """Options of the request that creates a cache; None uses those of other requests."""

    @property
    def ttl_string(self) -> str:
        """The lifetime in the provider's format, e.g. `1800s`."""
        return f"{self.ttl_seconds}s"
