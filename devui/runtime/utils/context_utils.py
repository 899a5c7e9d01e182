"""Closes event generators promptly, under the name that custom agents import."""

from contextlib import aclosing as Aclosing  # noqa: N812  ADK's name of it

__all__ = ["Aclosing"]
