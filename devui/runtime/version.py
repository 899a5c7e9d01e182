"""Which google-adk the runtime is compatible with, for code that prints or compares it."""

__version__ = "2.13.0"
"""google-adk's version; that of devui is `devui.__version__`."""
