"""Switches of google-adk's features, so that agents that set them run as they are (devui's own).

Nothing is switched: what google-adk does by default is what is done.
"""

from devui.runtime.features.feature_marks import experimental, stable, working_in_progress
from devui.runtime.features.feature_name import FeatureName
from devui.runtime.features.feature_switches import (
    is_feature_enabled,
    override_feature_enabled,
    temporary_feature_override,
)

__all__ = [
    "FeatureName",
    "experimental",
    "is_feature_enabled",
    "override_feature_enabled",
    "stable",
    "temporary_feature_override",
    "working_in_progress",
]
