"""Runs that were kept as tests: plays them without a server, a model or a network.

The public names are `play` and its `Result`; `devui make-test` writes tests that use them.
"""

from devui.testing.playing import Result, play

__all__ = ["Result", "play"]
