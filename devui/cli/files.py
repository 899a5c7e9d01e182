"""Files that commands write into a project."""

from collections.abc import Mapping
from pathlib import Path

from devui.cli.failures import Failed, Misused
from devui.debugger.keeping.placing import IsThere, write_all


def write_files(files: Mapping[Path, str], *, force: bool) -> None:
    """Write all of them; raises Misused before anything is written over, and Failed."""
    try:
        write_all(files, overwrite=force)
    except IsThere as there:
        raise Misused(f"{str(there.path)!r} is there already; --force writes over it") from there
    except OSError as error:
        raise Failed(f"the files cannot be written: {error}") from error
