"""Files that scripts of skills have made, kept as artifacts (adk-runtime 8.8)."""

import base64
import binascii
import json
import logging
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

from google.genai import types

from devui.runtime.artifacts.arguments import USER_PREFIX
from devui.runtime.code_executors.code_execution_utils import CodeExecutionResult

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context

logger = logging.getLogger(__name__)

MEBIBYTE = 1024 * 1024
LIMITS = {"file": 5 * MEBIBYTE, "all": 16 * MEBIBYTE, "count": 50}
"""Bytes of one file and of all, and how many there may be; the rest is told as skipped."""

REPORTING = """\
import mimetypes, stat

def made(folder):
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if one != "__pycache__")
        for name in sorted(names):
            path = os.path.join(at, name)
            seen = os.lstat(path)
            if stat.S_ISREG(seen.st_mode) and not name.endswith(".pyc"):
                yield os.path.relpath(path, folder), (seen.st_size, seen.st_mtime_ns)

def collect(folder, before, limits, report):
    found, skipped, total = [], [], 0
    for name, seen in made(folder):
        if before.get(name) == seen:
            continue
        whole = total + seen[0]
        if seen[0] > limits["file"] or whole > limits["all"] or len(found) == limits["count"]:
            skipped.append(name)
            continue
        total = whole
        with open(os.path.join(folder, name), "rb") as file:
            data = base64.b64encode(file.read()).decode()
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        found.append({"path": name, "data": data, "mime_type": kind})
    if found or skipped:
        report.update(files=found, skipped=skipped[:limits["count"]])

def shell(plan, report):
    how = {"stdin": subprocess.DEVNULL, "capture_output": True, "timeout": plan["timeout"]}
    try:
        done = subprocess.run(["bash", *plan["argv"]], **how)
        out, error, status = done.stdout, done.stderr, done.returncode
        if status:
            error = error.rstrip() + (b"\\n" if error else b"") + f"Exit code {status}".encode()
    except subprocess.TimeoutExpired as late:
        out, status = late.stdout or b"", -1
        error = f"Timed out after {plan['timeout']}s".encode()
    said = {"stdout": out.decode(errors="replace"), "stderr": error.decode(errors="replace")}
    report["ended"] = {**said, "exit_code": status}
"""
"""What the program around a script reports in one line of its output, which a marker begins: the
files that were made, and how a script of the shell has ended."""


class Output(NamedTuple):
    """What a script has written, and the files that it has made."""

    stdout: str
    files: list[dict[str, Any]]
    skipped: list[str]
    ended: CodeExecutionResult | None = None
    """How a script of the shell has ended."""


def parted(stdout: str, marker: str) -> Output:
    """The output without the line of the report, and what that says."""
    before, found, after = stdout.partition(marker)
    if not found:
        return Output(stdout, [], [])
    told, _, rest = after.partition("\n")
    if before and not before.endswith("\n"):
        before += "\n"
    try:
        report = json.loads(told)
        files, skipped = list(report.get("files", ())), list(report.get("skipped", ()))
        if "ended" not in report:
            return Output(before + rest, files, skipped)
        ended = CodeExecutionResult(**report["ended"])
        return Output(ended.stdout, files, skipped, ended)
    except (ValueError, AttributeError, TypeError):
        logger.warning("A script has spoilt the report of how it ended.")
        return Output(before + rest, [], [])


async def save(context: "Context", files: list[dict[str, Any]]) -> list[str]:
    """Keep the files as artifacts of the session; the names of those that were kept."""
    if files and context.get_invocation_context().artifact_service is None:
        logger.warning("%d files of a script are not kept: no artifact service.", len(files))
        return []
    saved = []
    for name, part in _parts(files):
        try:
            await context.save_artifact(name, part)
        except Exception:
            logger.exception("The file %r of a script could not be kept.", name)
        else:
            saved.append(name)
    return saved


def _parts(files: list[dict[str, Any]]) -> Iterator[tuple[str, types.Part]]:
    """The files that may be kept; a script can have written anything into its output."""
    for file in files:
        path = PurePosixPath(str(file.get("path")))
        if path.is_absolute() or ".." in path.parts or str(path).startswith(USER_PREFIX):
            logger.warning("The file %r of a script is not kept: such a name is not safe.", path)
            continue
        try:
            data = base64.b64decode(str(file.get("data")), validate=True)
        except binascii.Error:
            logger.warning("The file %r of a script cannot be read.", path)
            continue
        yield str(path), types.Part.from_bytes(data=data, mime_type=str(file.get("mime_type")))
