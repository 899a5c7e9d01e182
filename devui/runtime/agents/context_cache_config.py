"""`ContextCacheConfig`: when to let the provider keep what is common to requests."""

from google.genai import types
from pydantic import BaseModel, ConfigDict, Field


class ContextCacheConfig(BaseModel):
    """Settings of the context cache of an app (adk-runtime 3.1)."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    cache_intervals: int = Field(default=10, ge=1, le=100)
    """Invocations that may use one cache before it is made anew."""
    ttl_seconds: int = Field(default=1800, gt=0)
    """How long the provider keeps a cache."""
    min_tokens: int = Field(default=0, ge=0)
    """Smaller requests are not cached."""
    create_http_options: types.HttpOptions | None = None
    """Options of the request that makes a cache; None: those of any other request."""

    @property
    def ttl_string(self) -> str:
        """The lifetime as the provider wants it, e.g. `1800s`."""
        return f"{self.ttl_seconds}s"
