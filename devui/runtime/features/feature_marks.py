"""Marks for how settled something is: they change nothing (devui's own)."""

from collections.abc import Callable
from typing import TypeVar

from devui.runtime.features.feature_name import FeatureName

T = TypeVar("T", bound=Callable[..., object])


def experimental(feature_name: FeatureName | str) -> Callable[[T], T]:
    """A decorator that leaves its class or function as it is (devui's own).

    Raises:
        TypeError: it was put before a class or function without naming a feature.
    """
    if not isinstance(feature_name, str):
        raise TypeError(
            f"A mark of devui.runtime.features needs the name of a feature, as in"
            f" @experimental(FeatureName.AGENT_STATE), not {feature_name!r}."
        )
    return lambda marked: marked


stable = working_in_progress = experimental
"""The same, for other states of a feature."""
