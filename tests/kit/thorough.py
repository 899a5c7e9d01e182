"""How often the tests that draw at random, or kill at many moments, do so."""

import os

THOROUGH = os.environ.get("DEVUI_TESTS_THOROUGH") == "1"
"""Whether somebody has an hour; CONTRIBUTING.md says when."""


def rounds(usual: int, thorough: int) -> int:
    """How many: enough to meet what breaks often, or to look for what hardly ever does."""
    return thorough if THOROUGH else usual
