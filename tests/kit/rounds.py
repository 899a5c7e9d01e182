"""The number of rounds for randomized tests and tests that kill processes at many points."""

import os

THOROUGH = os.environ.get("DEVUI_TESTS_THOROUGH") == "1"
"""Whether tests may take an hour; CONTRIBUTING.md says when."""


def rounds(usual: int, thorough: int) -> int:
    """Return `usual` rounds, to find frequent failures, or `thorough` rounds, to find rare ones."""
    return thorough if THOROUGH else usual
