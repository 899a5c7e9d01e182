"""Agent code is compiled from its source, always.

Python takes the bytecode beside a module if the source's size and its time in whole seconds are
what they were. A file that is saved twice within a second would so run as it was before. Nothing
is written into the agents' folder either (R33).
"""

import sys
from collections.abc import Callable
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from typing import Any


class _FromSource(SourceFileLoader):
    def path_stats(self, path: str) -> Any:
        """Raise OSError: without them, importlib neither reads nor writes bytecode."""
        raise OSError(f"{path}: its bytecode is not used")


def _is_own(path: Path, root: Path) -> bool:
    """Whether it is a folder of agent code, and not of an environment that lies among it."""
    if not path.is_relative_to(root):
        return False
    below = path.relative_to(root).parts
    return not any(part == "site-packages" or part.startswith(".") for part in below)


def import_from_source(folder: Path) -> None:
    """Have all modules below the folder compiled from their source, in this process."""
    root = folder.resolve()

    def finder(path: str) -> FileFinder:
        if not _is_own(Path(path).resolve(), root):
            raise ImportError(f"{path} holds no code of the agents below {root}")
        return FileFinder(
            path,
            (ExtensionFileLoader, EXTENSION_SUFFIXES),
            (_FromSource, SOURCE_SUFFIXES),
            (SourcelessFileLoader, BYTECODE_SUFFIXES),
        )

    hook: Callable[[str], Any] = finder
    sys.path_hooks.insert(0, hook)
    sys.path_importer_cache.clear()
