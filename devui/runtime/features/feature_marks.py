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
    return _unchanged(feature_name)


def stable(feature_name: FeatureName | str) -> Callable[[T], T]:
    """Like `experimental` (devui's own)."""
    return _unchanged(feature_name)


def working_in_progress(feature_name: FeatureName | str) -> Callable[[T], T]:
    """Like `experimental` (devui's own)."""
    return _unchanged(feature_name)


def _unchanged(feature_name: FeatureName | str) -> Callable[[T], T]:
    if not isinstance(feature_name, str):
        raise TypeError(
            f"A mark of devui.runtime.features needs the name of a feature, as in"
            f" @experimental(FeatureName.AGENT_STATE), not {feature_name!r}."
        )
    return lambda marked: marked
