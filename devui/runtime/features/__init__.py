"""Switches of google-adk's features, so that agents that set them run unchanged (devui's own).

Nothing is switched: the runtime does what google-adk does by default.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TypeVar

# `FeatureName`: google-adk's names of the features that it can switch.


class FeatureName(StrEnum):
    """A feature, named as after `ADK_ENABLE_` in google-adk's environment variables."""

    AGENT_CONFIG = "AGENT_CONFIG"
    AGENT_ENGINE_SANDBOX_ENVIRONMENT = "AGENT_ENGINE_SANDBOX_ENVIRONMENT"
    AGENT_STATE = "AGENT_STATE"
    AUTHENTICATED_FUNCTION_TOOL = "AUTHENTICATED_FUNCTION_TOOL"
    BASE_AUTHENTICATED_TOOL = "BASE_AUTHENTICATED_TOOL"
    BIGTABLE_TOOLSET = "BIGTABLE_TOOLSET"
    BIGTABLE_TOOL_SETTINGS = "BIGTABLE_TOOL_SETTINGS"
    BIG_QUERY_TOOLSET = "BIG_QUERY_TOOLSET"
    BIG_QUERY_TOOL_CONFIG = "BIG_QUERY_TOOL_CONFIG"
    CASCADE_LIVE = "CASCADE_LIVE"
    CLASSIFIER = "CLASSIFIER"
    COMPUTER_USE = "COMPUTER_USE"
    DATA_AGENT_TOOLSET = "DATA_AGENT_TOOLSET"
    DATA_AGENT_TOOL_CONFIG = "DATA_AGENT_TOOL_CONFIG"
    DAYTONA_ENVIRONMENT = "DAYTONA_ENVIRONMENT"
    DYNAMIC_INSTRUCTION_ROUTING = "DYNAMIC_INSTRUCTION_ROUTING"
    E2B_ENVIRONMENT = "E2B_ENVIRONMENT"
    ELEVEN_LABS = "ELEVEN_LABS"
    ENVIRONMENT_SIMULATION = "ENVIRONMENT_SIMULATION"
    EVENTARC_TOOLSET = "EVENTARC_TOOLSET"
    EVENTARC_TOOL_CONFIG = "EVENTARC_TOOL_CONFIG"
    FALLBACK_MODEL = "FALLBACK_MODEL"
    FUNCTION_TOOL_ARG_VALIDATION = "FUNCTION_TOOL_ARG_VALIDATION"
    GCS_ADMIN_TOOLSET = "GCS_ADMIN_TOOLSET"
    GCS_TOOLSET = "GCS_TOOLSET"
    GCS_TOOL_SETTINGS = "GCS_TOOL_SETTINGS"
    GOOGLE_CREDENTIALS_CONFIG = "GOOGLE_CREDENTIALS_CONFIG"
    GOOGLE_TOOL = "GOOGLE_TOOL"
    IN_MEMORY_SESSION_SERVICE_LIGHT_COPY = "IN_MEMORY_SESSION_SERVICE_LIGHT_COPY"
    JSON_SCHEMA_FOR_FUNC_DECL = "JSON_SCHEMA_FOR_FUNC_DECL"
    LIVEKIT = "LIVEKIT"
    MCP_AGENT_SERVER = "MCP_AGENT_SERVER"
    MONGODB_MEMORY_SERVICE = "MONGODB_MEMORY_SERVICE"
    MONGODB_SESSION_SERVICE = "MONGODB_SESSION_SERVICE"
    MONGODB_TOOLSET = "MONGODB_TOOLSET"
    MONGODB_TOOL_SETTINGS = "MONGODB_TOOL_SETTINGS"
    OPENSANDBOX_ENVIRONMENT = "OPENSANDBOX_ENVIRONMENT"
    PLUGGABLE_AUTH = "PLUGGABLE_AUTH"
    PROGRESSIVE_SSE_STREAMING = "PROGRESSIVE_SSE_STREAMING"
    PUBSUB_TOOLSET = "PUBSUB_TOOLSET"
    PUBSUB_TOOL_CONFIG = "PUBSUB_TOOL_CONFIG"
    SKILL_LIFECYCLE = "SKILL_LIFECYCLE"
    SKILL_TOOLSET = "SKILL_TOOLSET"
    SNAKE_CASE_SKILL_NAME = "SNAKE_CASE_SKILL_NAME"
    SPANNER_ADMIN_TOOLSET = "SPANNER_ADMIN_TOOLSET"
    SPANNER_TOOLSET = "SPANNER_TOOLSET"
    SPANNER_TOOL_SETTINGS = "SPANNER_TOOL_SETTINGS"
    SPANNER_VECTOR_STORE = "SPANNER_VECTOR_STORE"
    TOOL_CONFIG = "TOOL_CONFIG"
    TOOL_CONFIRMATION = "TOOL_CONFIRMATION"


# Decorators that mark how stable something is; they change nothing.


T = TypeVar("T", bound=Callable[..., object])


def experimental(feature_name: FeatureName | str) -> Callable[[T], T]:
    """Return a decorator that leaves its class or function as it is (devui's own).

    Raises:
        TypeError: It was used on a class or function without naming a feature.
    """
    if not isinstance(feature_name, str):
        raise TypeError(
            "Decorators from devui.runtime.features need the name of a feature, as in"
            f" @experimental(FeatureName.AGENT_STATE), not {feature_name!r}."
        )
    return lambda target: target


stable = working_in_progress = experimental
"""The same, for other states of a feature."""


# The features of google-adk that this runtime has, which no switch changes.


_DONE = frozenset(
    {
        FeatureName.AGENT_STATE,
        FeatureName.AUTHENTICATED_FUNCTION_TOOL,
        FeatureName.BASE_AUTHENTICATED_TOOL,
        FeatureName.FALLBACK_MODEL,
        FeatureName.JSON_SCHEMA_FOR_FUNC_DECL,
        FeatureName.PROGRESSIVE_SSE_STREAMING,
        FeatureName.SKILL_TOOLSET,
        FeatureName.TOOL_CONFIRMATION,
    }
)


def is_feature_enabled(feature_name: FeatureName) -> bool:
    """Return whether this runtime has the feature, regardless of any override (devui's own).

    Raises:
        ValueError: There is no such feature.
    """
    return FeatureName(feature_name) in _DONE


def override_feature_enabled(feature_name: FeatureName, enabled: bool) -> None:
    """Request that a feature be on or off; warns if this runtime differs (devui's own).

    Raises:
        ValueError: There is no such feature.
    """
    if is_feature_enabled(feature_name) == enabled:
        return
    name = FeatureName(feature_name).value
    verb = "never does" if enabled else "always does"
    warnings.warn(
        f"override_feature_enabled({name}, {enabled}) has no effect: devui.runtime {verb} what"
        f" {name} controls in google-adk. Remove the line if the agent doesn't need it.",
        stacklevel=2,
    )


@contextmanager
def temporary_feature_override(feature_name: FeatureName, enabled: bool) -> Iterator[None]:
    """Request that a feature be on or off within the block; warns as above (devui's own).

    Raises:
        ValueError: There is no such feature.
    """
    override_feature_enabled(feature_name, enabled)
    yield


__all__ = [
    "FeatureName",
    "experimental",
    "is_feature_enabled",
    "override_feature_enabled",
    "stable",
    "temporary_feature_override",
    "working_in_progress",
]
