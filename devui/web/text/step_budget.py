"""Limits how much work is done for one text, counted in steps.

A step is roughly a microsecond on an idle machine of 2024, so the figures can be read as times. But
no clock is involved: a text costs the same on every machine under any load, so that every reader
sees it rendered in the same way.
"""


class TooMuch(Exception):
    """The text would exceed its allowance of work."""


class StepBudget:
    """The remaining allowance of a text, in steps."""

    __slots__ = ("remaining",)

    def __init__(self, steps: int) -> None:
        self.remaining = steps

    def spend(self, steps: int) -> None:
        """Charge for work, right before or after doing it; raise TooMuch if nothing is left."""
        self.remaining -= steps
        if self.remaining < 0:
            raise TooMuch
