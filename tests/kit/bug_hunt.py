"""The bug of the sample `faulty`, and what a coding agent does that knows code but not devui."""

import re
import shutil
from pathlib import Path

from tests.kit.server import SAMPLES

QUESTION = "Split the bill of table 7"
RIGHT = "18.9"
"""What each of four people pays of 84 less ten percent."""


def copy_of_faulty(agents: Path, name: str) -> Path:
    """Copy the sample as an app of the test's own, and return its folder."""
    ignored = shutil.ignore_patterns("__pycache__")
    return Path(shutil.copytree(SAMPLES / "faulty", agents / name, ignore=ignored))


def function_at(file: Path, line: int) -> str:
    """Return the source of the function around a line, up to that line."""
    lines = file.read_text(encoding="utf-8").splitlines()
    begin = max(n for n, text in enumerate(lines[:line]) if re.match(r"\s*(async )?def ", text))
    return "\n".join(lines[begin:line])


def keys_read(source: str) -> list[str]:
    """Return the state keys that a function reads or writes."""
    return list(dict.fromkeys(re.findall(r"state\[\"(\w+)\"\]", source)))


def definition_of(folder: Path, name: str) -> tuple[Path, str]:
    """Return the file that defines a function of this name, and the function's source."""
    for file in sorted(folder.rglob("*.py")):
        if match := re.search(
            rf"^def {name}\b.*?(?=^def |^\w+ = |\Z)", file.read_text(), re.DOTALL | re.MULTILINE
        ):
            return file, match[0]
    raise AssertionError(f"no function {name} in {folder}")


def mend(file: Path, source: str, argument: str) -> None:
    """Turn a percentage into a fraction where a function multiplies by it."""
    correction = source.replace(f"* {argument}", f"* {argument} / 100")
    assert correction != source
    file.write_text(file.read_text(encoding="utf-8").replace(source, correction), encoding="utf-8")
