"""Warnings that tests ignore if they run litellm's code."""

import pytest

LITELLM_WARNINGS = [
    pytest.mark.filterwarnings(f"ignore::{kind}")
    for kind in (
        "DeprecationWarning",
        "UserWarning",
        "ResourceWarning",
        "pytest.PytestUnraisableExceptionWarning",
    )
]
"""litellm's code warns about itself, and leaves connections to the garbage collector."""
