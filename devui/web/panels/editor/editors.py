"""Editors that open a file at a line, and the one that `DEVUI_EDITOR` names."""

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

VARIABLE: Final = "DEVUI_EDITOR"
"""The variable that names an editor: a program in `_EDITORS`, or a command in which `{file}` and
`{line}` are replaced."""

_GOTO: Final = ("--goto", "{file}:{line}")
_LINE: Final = ("--line", "{line}", "{file}")
_EDITORS: Final[Mapping[str, tuple[str, Sequence[str]]]] = {
    "code": ("VS Code", _GOTO),
    "cursor": ("Cursor", _GOTO),
    "windsurf": ("Windsurf", _GOTO),
    "codium": ("VSCodium", _GOTO),
    "zed": ("Zed", ("{file}:{line}",)),
    "subl": ("Sublime Text", ("{file}:{line}",)),
    "pycharm": ("PyCharm", _LINE),
    "idea": ("IntelliJ IDEA", _LINE),
}
"""The name and arguments of each program. All of them return at once and have a window."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """An editor that opens a line by URL, on the browser's machine."""

    name: str
    """The name that people know it by."""
    form: str
    """The URL, with `{file}` and `{line}`."""

    def address(self, file: Path, line: int) -> str:
        """Return the URL that opens an absolute file at a line, counted from 1."""
        return self.form.format(file=quote(str(file)), line=line)


SCHEMES: Final[Mapping[str, Scheme]] = {
    "vscode": Scheme("VS Code", "vscode://file{file}:{line}"),
    "cursor": Scheme("Cursor", "cursor://file{file}:{line}"),
    "pycharm": Scheme("PyCharm", "pycharm://open?file={file}&line={line}"),
}
"""The schemes, by the name in the browser's cookie."""
INSTALLED: Final = "installed"
"""The cookie's value for the editor on the server's machine."""


def choices(editor: "Editor | None") -> tuple[tuple[str, str], ...]:
    """Return the editors that a person can choose if `DEVUI_EDITOR` isn't set, each with its
    name."""
    own = ((INSTALLED, f"{editor.name} on this machine"),) if editor else ()
    return (*((key, scheme.name) for key, scheme in SCHEMES.items()), *own)


@dataclass(frozen=True, slots=True)
class Editor:
    """An editor on the server's machine."""

    name: str
    """The name that people know it by."""
    command: tuple[str, ...]
    """The program and its arguments, with `{file}` and `{line}`."""

    @classmethod
    def find(cls, environment: Mapping[str, str] = os.environ) -> Self | None:
        """Return the editor in `DEVUI_EDITOR`, or the first known one that is installed.

        None if there is neither, or if `DEVUI_EDITOR` is empty.
        """
        command = environment.get(VARIABLE)
        if command is not None:
            return cls.parse(command)
        path = environment.get("PATH")
        return next((cls.parse(each) for each in _EDITORS if shutil.which(each, path=path)), None)

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the editor for a command; None if the command is empty."""
        try:
            words = shlex.split(text)
        except ValueError:  # an unclosed quote; starting the program will fail with an error
            words = [text]
        if not words:
            return None
        program = Path(words[0]).name
        name, arguments = _EDITORS.get(program, (program, ("{file}",)))
        has_place = any("{file}" in word for word in words)
        return cls(name, tuple(words) if has_place else (*words, *arguments))

    def arguments(self, file: Path, line: int) -> list[str]:
        """Return the command that opens a file at a line, counted from 1."""
        values = {"{file}": str(file), "{line}": str(line)}
        return [_fill(word, values) for word in self.command]


def _fill(word: str, values: Mapping[str, str]) -> str:
    for name, value in values.items():
        word = word.replace(name, value)
    return word
