"""Texts added to a system instruction, which may have any form that `google-genai` takes.

ADK gives texts; callbacks and tools of one's own may put something else there (adk-runtime 9.1).
"""

from google.genai import types


def prepended(text: str, present: types.ContentUnion | None) -> types.ContentUnion:
    """The present instruction in whichever form it has, after the text."""
    if not present:
        return text
    if isinstance(present, str):
        return f"{text}\n\n{present}"
    if isinstance(present, types.Content):
        parts = [types.Part(text=text), *(present.parts or [])]
        return present.model_copy(update={"parts": parts})
    pieces: list[types.PartUnion] = list(present) if isinstance(present, list) else [present]
    return [text, *pieces]


def appended(text: str, present: types.ContentUnion | None) -> types.ContentUnion:
    """The present instruction in whichever form it has, before the text."""
    if not present:
        return text
    if isinstance(present, str):
        return f"{present}\n\n{text}"
    if isinstance(present, types.Content):
        parts = [*(present.parts or []), types.Part(text=text)]
        return present.model_copy(update={"parts": parts})
    pieces: list[types.PartUnion] = list(present) if isinstance(present, list) else [present]
    return [*pieces, text]
