"""Calls of functions as they grow in a streamed answer (dev-uis 4.1, item 16).

Gemini streams arguments as `partialArgs`, each with its path; other services send a call whole.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from devui.web.presenters.content import mapping

_KINDS: Final = ("numberValue", "boolValue", "nullValue")


@dataclass(slots=True)
class StreamedCalls:
    """Writes the calls of an answer, piece after piece."""

    complete: str = ""
    """The call whose arguments became whole with the part that was written last."""
    _open: str = ""
    """The name of the call that goes on."""
    _path: str = ""
    """The argument that was written last."""
    _quoted: bool = False
    """That is a text, and may go on."""

    def write(self, part: Mapping[str, Any]) -> str:
        """What this part adds; "" if it is no call."""
        self.complete = ""
        if not part.get("functionCall"):
            return ""
        call = mapping(part["functionCall"])
        going = bool(call.get("willContinue"))
        if call.get("name") and not self._open:
            self._open, self._path = str(call["name"]), ""
            text = f"{self._open}("
        else:
            text = ""
        if call.get("args"):
            text += json.dumps(call["args"], ensure_ascii=False)
        for partial in call.get("partialArgs") or []:
            text += self._argument(mapping(partial))
        return text if going else text + self._end()

    def _argument(self, partial: Mapping[str, Any]) -> str:
        path = str(partial.get("jsonPath") or "").removeprefix("$").removeprefix(".")
        begins = path != self._path
        text = self._closed() + (", " if self._path else "") + f"{path}: " if begins else ""
        self._path = path
        if partial.get("stringValue") is not None:
            written = json.dumps(str(partial["stringValue"]), ensure_ascii=False)[1:-1]
            text += written if self._quoted else f'"{written}'
            self._quoted = True
            return text if partial.get("willContinue") else text + self._closed()
        known = next((name for name in _KINDS if name in partial), None)
        value = None if known in {None, "nullValue"} else partial[known or ""]
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        return text + (json.dumps(value) if known else "")

    def _closed(self) -> str:
        quoted, self._quoted = self._quoted, False
        return '"' if quoted else ""

    def _end(self) -> str:
        text = self._closed() + ")"
        self.complete, self._open = self._open, ""
        return text
