"""Replays recorded runs as tests, without a server, a model or the network.

The public names are `play` and its `Result`; `devui make-test` writes tests that use them.
"""

from devui.testing.playing import Result, play

__all__ = ["Result", "play"]
