"""What tests that run litellm's code do not take for errors."""

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
"""litellm's own code warns of what it does itself, and leaves connections to the collector."""
