"""Agents that use google-adk's feature flags run unchanged."""

import json
import warnings
from importlib import import_module

import pytest

from devui.runtime.features import (
    FeatureName,
    experimental,
    is_feature_enabled,
    override_feature_enabled,
    stable,
    temporary_feature_override,
    working_in_progress,
)
from tests.kit.oracle import needs_adk, run_adk

_FEATURES = """
import json
from google.adk.features import FeatureName, is_feature_enabled
public = [one for one in FeatureName if not one.name.startswith("_")]
print(json.dumps({one.name: [one.value, is_feature_enabled(one)] for one in public}))
"""


@needs_adk
def test_features_have_google_adks_names_and_none_is_enabled_only_here():
    theirs = json.loads(run_adk(_FEATURES))
    assert {one.name: one.value for one in FeatureName} == {
        name: value for name, (value, _) in theirs.items()
    }
    assert not [one for one in FeatureName if is_feature_enabled(one) and not theirs[one.name][1]]


def test_setting_a_feature_to_what_the_runtime_does_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        override_feature_enabled(FeatureName.JSON_SCHEMA_FOR_FUNC_DECL, True)
        override_feature_enabled(FeatureName.FUNCTION_TOOL_ARG_VALIDATION, False)


@pytest.mark.parametrize(
    ("feature", "enabled", "message"),
    [
        (FeatureName.SKILL_LIFECYCLE, True, "never does what SKILL_LIFECYCLE controls"),
        (FeatureName.TOOL_CONFIRMATION, False, "always does what TOOL_CONFIRMATION controls"),
    ],
)
def test_setting_a_feature_to_anything_else_causes_a_warning(feature, enabled, message):
    with pytest.warns(UserWarning, match=message):
        override_feature_enabled(feature, enabled)
    with pytest.warns(UserWarning, match=message), temporary_feature_override(feature, enabled):
        pass
    assert is_feature_enabled(feature) is not enabled


def test_features_can_be_imported_from_google_adks_registry_module():
    registry = import_module("devui.runtime.features._feature_registry")
    assert registry.override_feature_enabled is override_feature_enabled


def test_an_unknown_feature_is_an_error():
    with pytest.raises(ValueError, match="TELEPATHY"):
        override_feature_enabled("TELEPATHY", True)


@pytest.mark.parametrize("mark", [experimental, stable, working_in_progress])
def test_feature_decorators_return_classes_and_functions_unchanged(mark):
    class Tool:
        pass

    assert mark(FeatureName.AGENT_STATE)(Tool) is Tool
    assert mark("MY_OWN")(len) is len
    with pytest.raises(TypeError, match="need the name of a feature"):
        mark(Tool)
