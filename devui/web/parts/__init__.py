"""The parts of the pages: a frozen dataclass for each, which names its template.

A template gets exactly its part's fields; a nested part is rendered by the global `part(…)`. The
same part serves the full page, htmx answers and the stream. The start page needs few of them, so
this package loads none by itself.
"""
