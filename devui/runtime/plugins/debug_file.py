"""The file of `DebugLoggingPlugin`: a YAML document for each invocation (adk-runtime 10.4)."""

import json
import logging
import os
import re
from pathlib import Path
from typing import Any

logger = logging.getLogger(__name__)

_ESCAPED = re.compile(
    "[^\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""Signs that YAML does not read, or reads as the end of a line."""
_LONE = re.compile("[\ud800-\udfff]")
"""Halves of signs, which no text in UTF-8 can hold."""


class DebugFile:
    """Documents are appended, readable for the file's owner alone if it is made here."""

    def __init__(self, path: Path) -> None:
        """Name a file; nothing is opened before there is something to write."""
        self._path = path
        self._has_warned = False

    def append(self, document: dict[str, Any]) -> None:
        """Add a document. What goes wrong is logged: a log must not break what it is about."""
        try:
            written = f"---\n{_yaml(document)}\n".encode()
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "ab") as file:
                self._look_at_mode(file.fileno())
                file.write(written)
        except (OSError, ValueError, RecursionError) as error:
            logger.error("%s cannot be written: %s", self._path, error)  # noqa: TRY400  it says all

    def _look_at_mode(self, handle: int) -> None:
        if not self._has_warned and os.fstat(handle).st_mode & 0o077:
            self._has_warned = True
            logger.warning(
                "%s holds whole prompts and answers, and others may read it: chmod 600 %s",
                self._path,
                self._path,
            )


def _yaml(document: dict[str, Any]) -> str:
    """JSON, which YAML's readers take; it needs no package."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return _ESCAPED.sub(lambda sign: f"\\u{ord(sign[0]):04x}", _LONE.sub("\ufffd", text))
