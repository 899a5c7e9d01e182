"""The version of google-adk with which the runtime is compatible, for code that reads it."""

__version__ = "2.13.0"
"""google-adk's version; that of devui is `devui.__version__`."""
