"""What is done of google-adk's features, which nothing changes (devui's own)."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from devui.runtime.features.feature_name import FeatureName

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
    """Whether this runtime does it, whatever was switched (devui's own).

    Raises:
        ValueError: there is no such feature.
    """
    return FeatureName(feature_name) in _DONE


def override_feature_enabled(feature_name: FeatureName, enabled: bool) -> None:
    """Ask for a feature, or to be without it; what is not as asked is warned of (devui's own).

    Raises:
        ValueError: there is no such feature.
    """
    if is_feature_enabled(feature_name) == enabled:
        return
    name = FeatureName(feature_name).value
    done = "never does" if enabled else "always does"
    warnings.warn(
        f"override_feature_enabled({name}, {enabled}) changes nothing: devui.runtime {done} what"
        f" {name} switches in google-adk. Leave the line out if the agent is well without it.",
        stacklevel=2,
    )


@contextmanager
def temporary_feature_override(feature_name: FeatureName, enabled: bool) -> Iterator[None]:
    """Ask for a feature, or to be without it, for the block; warns as above (devui's own).

    Raises:
        ValueError: there is no such feature.
    """
    override_feature_enabled(feature_name, enabled)
    yield
