"""How much work one text may cost, counted in steps.

A step is roughly what a microsecond does on an idle machine of 2024, so the figures can be read as
times; but nothing here looks at a clock. The same text costs the same on every machine at every
load, and so every reader sees it shown in the same way.
"""


class TooMuch(Exception):
    """The text would cost more than it may."""


class Effort:
    """What is left of a text's allowance."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Pay for work, before or right after it is done; raises TooMuch when nothing is left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuch
