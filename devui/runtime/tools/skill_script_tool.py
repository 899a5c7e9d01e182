"""`RunSkillScriptTool`: runs a script of a skill with a code executor (adk-runtime 8.8)."""

import asyncio
import base64
import binascii
import json
import logging
import secrets
from collections.abc import Iterator
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from google.genai import types

from devui.runtime.artifacts.base_artifact_service import USER_PREFIX
from devui.runtime.calling import call
from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor
from devui.runtime.code_executors.code_execution_utils import (
    CodeExecutionInput,
    CodeExecutionResult,
)
from devui.runtime.environment import BaseEnvironment, ExecutionResult
from devui.runtime.skills.models import Skill
from devui.runtime.tools.skill_tools import (
    RUN_SKILL_SCRIPT,
    SkillError,
    Skills,
    SkillTool,
    not_found,
)

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context, ReadonlyContext
    from devui.runtime.agents.llm_agent import LlmAgent


# Saves files created by scripts of skills as artifacts (adk-runtime 8.8).


logger = logging.getLogger(__name__)

MEBIBYTE = 1024 * 1024
LIMITS = {"file": 5 * MEBIBYTE, "all": 16 * MEBIBYTE, "count": 50}
"""The maximum size of a file and of all files in bytes, and their maximum number; the rest is
reported as skipped."""

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
"""The part of the program around a script that reports, in one line of output after a marker, the
files that were created and how a shell script ended."""


class Output(NamedTuple):
    """The output of a script, and the files it created."""

    stdout: str
    files: list[dict[str, Any]]
    skipped: list[str]
    shell_result: CodeExecutionResult | None = None
    """The result of a shell script; None for other scripts."""


def parted(stdout: str, marker: str) -> Output:
    """Split the output into the script's own and the report in it."""
    before, separator, after = stdout.partition(marker)
    if not separator:
        return Output(stdout, [], [])
    line, _, rest = after.partition("\n")
    if before and not before.endswith("\n"):
        before += "\n"
    try:
        report = json.loads(line)
        files, skipped = list(report.get("files", ())), list(report.get("skipped", ()))
        if "ended" not in report:
            return Output(before + rest, files, skipped)
        shell_result = CodeExecutionResult(**report["ended"])
        return Output(shell_result.stdout, files, skipped, shell_result)
    except (ValueError, AttributeError, TypeError):
        logger.warning("A script corrupted the report of its outcome.")
        return Output(before + rest, [], [])


async def save(context: "Context", files: list[dict[str, Any]]) -> list[str]:
    """Save the files as artifacts of the session; return the names of those that were saved."""
    if files and context.get_invocation_context().artifact_service is None:
        logger.warning("%d files of a script were not saved: no artifact service.", len(files))
        return []
    names = []
    for name, part in _parts(files):
        try:
            await context.save_artifact(name, part)
        except Exception:
            logger.exception("The file %r of a script could not be saved.", name)
        else:
            names.append(name)
    return names


def _parts(files: list[dict[str, Any]]) -> Iterator[tuple[str, types.Part]]:
    """Yield the files that may be saved; a script can have written anything to its output."""
    for file in files:
        path = PurePosixPath(str(file.get("path")))
        if path.is_absolute() or ".." in path.parts or str(path).startswith(USER_PREFIX):
            logger.warning("The file %r of a script was not saved: its name is not safe.", path)
            continue
        try:
            data = base64.b64decode(str(file.get("data")), validate=True)
        except binascii.Error:
            logger.warning("The file %r of a script could not be decoded.", path)
            continue
        yield str(path), types.Part.from_bytes(data=data, mime_type=str(file.get("mime_type")))


# Skills in an environment that the agent's author provides (adk-runtime 8.8).


_SCRIPTS = "scripts"


class SkillWorkspace:
    """Puts the files of skills where their scripts run, and runs commands there."""

    def __init__(self, environment: BaseEnvironment, folder: Path | str | None) -> None:
        """Set the folder of skills: an absolute path, or `skills` in the environment's folder.

        Raises:
            ValueError: the folder is relative.
        """
        if folder is not None and not _is_absolute(str(folder)):
            raise ValueError(f"skills_folder must be an absolute path, not {str(folder)!r}.")
        self.environment = environment
        self._folder = Path(folder) if folder is not None else None
        self._versions: dict[str, str] = {}

    @classmethod
    def of(
        cls, environment: BaseEnvironment | None, folder: Path | str | None
    ) -> "SkillWorkspace | None":
        """Return None without an environment; raise ValueError for a lone or relative folder."""
        if environment is not None:
            return cls(environment, folder)
        if folder is not None:
            raise ValueError("skills_folder is a folder in an environment. Pass environment, too.")
        return None

    @property
    def folder(self) -> Path:
        """The folder of the skills."""
        return self._folder or self.environment.working_dir / "skills"

    async def begin(self) -> None:
        """Initialize the environment unless it is initialized."""
        if not self.environment.is_initialized:
            await self.environment.initialize()

    async def run(self, skill: Skill, script: str, command: str, seconds: float) -> ExecutionResult:
        """Run a command next to a skill's files, which are written first if the script is missing.

        Raises:
            PermissionError: a path of the skill leads out of its folder.
            Exception: what the environment raises.
        """
        try:
            await self.environment.read_file(self.folder / skill.name / _SCRIPTS / _inner(script))
        except FileNotFoundError:
            await self._write(skill)
        return await self.environment.execute(command, timeout=seconds)

    async def refresh(self, skill: Skill, noted: str) -> None:
        """Write a skill again if it has changed; `noted` is the digest of its current version."""
        if self._versions.get(skill.name) != noted:
            await self.begin()
            await self._write(skill)
            self._versions[skill.name] = noted

    async def close(self) -> None:
        """Close the environment if it was initialized."""
        if self.environment.is_initialized:
            await self.environment.close()

    async def _write(self, skill: Skill) -> None:
        folder = self.folder / skill.name
        files = [(folder / _inner(path), data) for path, data in skill_files(skill)]
        await asyncio.gather(*(self.environment.write_file(path, data) for path, data in files))


def skill_files(skill: Skill) -> list[tuple[str, bytes]]:
    """Return the files of a skill with their paths in its folder."""
    resources = skill.resources
    files: list[tuple[str, str | bytes]] = [
        *((f"references/{name}", data) for name, data in resources.references.items()),
        *((f"assets/{name}", data) for name, data in resources.assets.items()),
        *((f"{_SCRIPTS}/{name}", script.src) for name, script in resources.scripts.items()),
    ]
    return [(name, data.encode() if isinstance(data, str) else data) for name, data in files]


def _inner(path: str) -> PurePosixPath:
    """Return the path of a skill's file; raise PermissionError if it leads out of the folder."""
    inner_path = PurePosixPath(path.replace("\\", "/"))
    if _is_absolute(path) or PureWindowsPath(path).drive or ".." in inner_path.parts:
        raise PermissionError(f"The path of a skill's file is outside the skill: {path}")
    return inner_path


def _is_absolute(path: str) -> bool:
    return PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute()


_STRING = {"type": "string"}
_STRINGS = {"type": "array", "items": _STRING}
_SHELLS = frozenset({".sh", ".bash"})

_PROGRAM = """\
import base64, json, os, runpy, subprocess, sys, tempfile

{reporting}
plan = json.loads({plan!r})
with tempfile.TemporaryDirectory() as folder:
    for name, data in plan["files"].items():
        path = os.path.realpath(os.path.join(folder, *name.split("/")))
        if os.path.commonpath([path, os.path.realpath(folder)]) != os.path.realpath(folder):
            raise PermissionError("The path of a skill's file is outside the skill: " + name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
    before = os.getcwd()
    given = dict(made(folder)) if plan["limits"] else {{}}
    report = {{}}
    os.chdir(folder)
    try:
        if plan["shell"]:
            shell(plan, report)
        else:
            sys.argv = plan["argv"]
            sys.path.insert(0, os.path.dirname(os.path.abspath(plan["argv"][0])))
            try:
                runpy.run_path(plan["argv"][0], run_name="__main__")
            except SystemExit as ended:
                if ended.code:
                    raise
    finally:
        if plan["limits"]:
            collect(folder, given, plan["limits"], report)
        if report:
            print(plan["marker"] + json.dumps(report))
        os.chdir(before)
"""
"""Puts the skill's files into a folder and runs the script there; `plan` has its parameters."""


class RunSkillScriptTool(SkillTool):
    """Runs a Python or shell script in a copy of its skill's folder."""

    TOOL_NAME: ClassVar[str] = RUN_SKILL_SCRIPT

    def __init__(self, toolset: Skills, timeout: int, *, keeps_files: bool = False) -> None:
        """Describe the tool.

        Args:
            toolset: The toolset with the skills.
            timeout: The time limit of a shell script, in seconds.
            keeps_files: Whether files that a script creates become artifacts.
        """
        any_args = {"anyOf": [{"type": "object"}, _STRINGS]}
        super().__init__(
            toolset,
            RUN_SKILL_SCRIPT,
            "Run a script from the scripts/ folder of a skill.",
            {
                "properties": {
                    "skill_name": {**_STRING, "description": "Which skill."},
                    "file_path": {**_STRING, "description": "Its path: scripts/…"},
                    "args": {
                        **any_args,
                        "description": "Its arguments: all of them as a list, or its long options"
                        " as an object.",
                    },
                    "short_options": {
                        "type": "object",
                        "description": "Its short options, if args is no list.",
                    },
                    "positional_args": {
                        **_STRINGS,
                        "description": "Its other arguments, if args is no list.",
                    },
                },
                "required": ["skill_name", "file_path"],
            },
        )
        self._timeout = timeout
        self._keeps_files = keeps_files

    async def _run(self, args: dict[str, Any], context: "Context") -> dict[str, Any]:
        arguments = script_arguments(args)
        skill = await self._skill(args, context)
        name = script_of(skill, args, context)
        marker = f"report:{secrets.token_hex(16)}:"
        code = self._code(skill, name, arguments, marker)
        executor = self._executor(context)
        try:
            result = await call(
                executor.execute_code, context.get_invocation_context(), CodeExecutionInput(code)
            )
        except Exception as error:  # users' executors
            raise failed(args, error) from error
        output = parted(result.stdout, marker)
        if output.shell_result is not None:
            result = output.shell_result
        response = {
            "skill_name": skill.name,
            "file_path": args["file_path"],
            "stdout": output.stdout,
            "stderr": result.stderr,
            "status": _status(result, output.stdout),
        }
        if names := await save(context, output.files):
            response["saved_artifacts"] = names
        if output.skipped:
            response["skipped_artifacts"] = output.skipped
        return response

    def _executor(self, context: "Context") -> BaseCodeExecutor:
        own = self._toolset.code_executor or executor_of(context)
        if own is None:
            raise SkillError(
                "NO_CODE_EXECUTOR",
                "Scripts cannot be run: neither the SkillToolset nor the agent has a code"
                " executor.",
            )
        return own

    def _code(self, skill: Skill, name: str, arguments: list[str], marker: str) -> str:
        kind = PurePosixPath(name).suffix.lower()
        if kind != ".py" and kind not in _SHELLS:
            raise SkillError(
                "UNSUPPORTED_SCRIPT_TYPE",
                f"Unsupported script type '{kind}'. Supported types: .py, .sh, .bash",
            )
        plan = {
            "argv": [f"scripts/{name}", *arguments],
            "files": {path: base64.b64encode(data).decode() for path, data in skill_files(skill)},
            "shell": kind in _SHELLS,
            "timeout": self._timeout,
            "marker": marker,
            "limits": LIMITS if self._keeps_files else None,
        }
        return _PROGRAM.format(plan=json.dumps(plan), reporting=REPORTING)


class RunSkillCommandTool(SkillTool):
    """Runs a command next to the files of a skill, in the environment of the toolset."""

    def __init__(self, toolset: Skills, workspace: SkillWorkspace, timeout: int) -> None:
        """Describe the tool; `timeout` is in seconds."""
        super().__init__(
            toolset,
            RUN_SKILL_SCRIPT,
            "Run a script from the scripts/ folder of a skill by a command of the shell.",
            {
                "properties": {
                    "skill_name": {**_STRING, "description": "Which skill."},
                    "file_path": {**_STRING, "description": "The script's path: scripts/…"},
                    "command": {**_STRING, "description": "The command that runs it."},
                },
                "required": ["skill_name", "file_path", "command"],
            },
        )
        self._workspace = workspace
        self._timeout = timeout

    async def _run(self, args: dict[str, Any], context: "Context") -> dict[str, Any]:
        if not isinstance(args["command"], str):
            raise SkillError("INVALID_ARGUMENTS", "'command' must be a string.")
        skill = await self._skill(args, context)
        path = script_of(skill, args, context)
        try:
            result = await self._workspace.run(skill, path, args["command"], self._timeout)
        except Exception as error:  # users' environments
            raise failed(args, error) from error
        return {
            "stdout": result.stdout,
            "stderr": result.stderr,
            "exit_code": result.exit_code,
            "timed_out": result.timed_out,
        }


def script_of(skill: Skill, args: dict[str, Any], context: "Context") -> str:
    """Return the path in `scripts/` of the script that the model named, or raise SkillError."""
    name = str(args["file_path"]).removeprefix("scripts/")
    if skill.resources.get_script(name) is None:
        raise not_found("SCRIPT", f"Script '{args['file_path']}'", skill, context)
    return name


def failed(args: dict[str, Any], error: Exception) -> SkillError:
    """Return the error that tells the model that a script could not be run."""
    problem = f"{type(error).__name__}: {str(error)[:200]}"
    return SkillError(
        "EXECUTION_ERROR", f"Failed to execute script '{args['file_path']}':\n{problem}"
    )


def executor_of(context: "ReadonlyContext") -> BaseCodeExecutor | None:
    """Return the code executor of the agent; None if it has none."""
    agent = context._invocation_context.agent
    if agent is None or "code_executor" not in type(agent).model_fields:
        return None
    return cast("LlmAgent", agent).code_executor


def script_arguments(args: dict[str, Any]) -> list[str]:
    """Return the arguments for the script, from what the model wrote.

    Raises:
        SkillError: they have other types than declared, or are given in two ways.
    """
    options, short = args.get("args"), args.get("short_options")
    positional = args.get("positional_args")
    wrong = []
    if not isinstance(options, dict | list | None):
        wrong.append("'args' must be an object or a list of strings.")
    if not isinstance(short, dict | None):
        wrong.append("'short_options' must be an object.")
    if not isinstance(positional, list | None):
        wrong.append("'positional_args' must be a list of strings.")
    if isinstance(options, list) and (short or positional):
        wrong.append("If 'args' is a list, it must be alone.")
    if wrong:
        raise SkillError("INVALID_ARGUMENTS", "\n".join(wrong))
    if isinstance(options, list):
        return [str(one) for one in options]
    words = [word for key, value in (options or {}).items() for word in (f"--{key}", str(value))]
    words += [word for key, value in (short or {}).items() for word in (f"-{key}", str(value))]
    return [*words, "--", *map(str, positional)] if positional else words


def _status(result: CodeExecutionResult, stdout: str) -> str:
    """Return how the script ended, by its exit status and its output."""
    if result.exit_code or (result.stderr and not stdout):
        return "error"
    return "warning" if result.stderr else "success"
