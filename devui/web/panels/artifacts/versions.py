"""The differences between two versions of a file."""

import difflib
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from devui.debugger.events.preview import shortened
from devui.store.rows import Artifact
from devui.web.panels.artifacts.parts import DiffLine, FileDiff
from devui.web.panels.artifacts.preview import artifact_preview, text_of, type_of
from devui.web.panels.chat.previews import MEDIA
from devui.web.text.deceptive_characters import visible

_LINES: Final = 4_000
"""How many lines of each version are compared: the time grows with their square."""
_LINES_SHOWN: Final = 1_000
_WIDEST: Final = 2_000
_AROUND: Final = 3
_JSON: Final = 500_000


def file_diff(old: Artifact, new: Artifact, old_href: str, new_href: str) -> FileDiff:
    """Return the differences: pictures side by side, text by line; JSON is indented first."""
    labels = f"v{old.row.version}", f"v{new.row.version}"
    if all(MEDIA.get(type_of(each)) for each in (old, new)):
        sides = artifact_preview(old, old_href), artifact_preview(new, new_href)
        note = "Both versions have the same content." if old.data == new.data else ""
        return FileDiff(*labels, before=sides[0], after=sides[1], note=note)
    texts = text_of(old), text_of(new)
    if texts[0] is None or texts[1] is None:
        same = (old.data, old.text) == (new.data, new.text)
        note = "the same content" if same else "different content that can't be shown as text"
        return FileDiff(*labels, note=f"The versions have {note}.")
    before, after = _lines(texts[0]), _lines(texts[1])
    cut = max(len(before), len(after)) > _LINES
    lines = list(_diff_lines(before[:_LINES], after[:_LINES]))
    note = "" if lines else "Both versions have the same content."
    if cut or len(lines) > _LINES_SHOWN:
        note = "The files are long, so not all differences are shown."
    return FileDiff(*labels, lines=tuple(lines[:_LINES_SHOWN]), note=note)


def _lines(text: str) -> list[str]:
    if len(text) <= _JSON and text.lstrip()[:1] in {"{", "["}:
        with suppress(ValueError, RecursionError):  # it may only begin like JSON
            text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    return text.splitlines()


def _diff_lines(before: list[str], after: list[str]) -> Iterator[DiffLine]:
    diff = difflib.unified_diff(before, after, n=_AROUND, lineterm="")
    for position, line in enumerate(diff):
        if position > 1:  # after the two lines that name the files
            mark, text = (line[0], line[1:]) if line[0] != "@" else ("@", line)
            yield DiffLine(mark, visible(shortened(text, _WIDEST)))
