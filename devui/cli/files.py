"""Files that commands write into a project."""

from pathlib import Path

from devui.cli.failures import Failed


def write_file(path: Path, text: str) -> None:
    """Write all of it or nothing, into a folder that is made if it is not there. Raises Failed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise Failed(f"{str(path)!r} cannot be written: {error}") from error
