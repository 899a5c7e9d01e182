"""`RunSkillScriptTool`: runs a script of a skill by a code executor (adk-runtime 8.8)."""

import base64
import json
import secrets
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar, cast

from devui.runtime.calling import call
from devui.runtime.code_executors.base_code_executor import BaseCodeExecutor
from devui.runtime.code_executors.code_execution_utils import (
    CodeExecutionInput,
    CodeExecutionResult,
)
from devui.runtime.skills.models import Skill
from devui.runtime.tools.skill_instruction import RUN_SKILL_SCRIPT
from devui.runtime.tools.skill_output import LIMITS, REPORTING, parted, save
from devui.runtime.tools.skill_tools import SkillError, Skills, SkillTool, not_found
from devui.runtime.tools.skill_workspace import SkillWorkspace, skill_files

if TYPE_CHECKING:
    from devui.runtime.agents.context import Context
    from devui.runtime.agents.llm_agent import LlmAgent
    from devui.runtime.agents.readonly_context import ReadonlyContext

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
            raise PermissionError("The path of a skill's file leads out of it: " + name)
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
"""Puts the skill's files into a folder and runs the script there; what it needs is in `plan`."""


class RunSkillScriptTool(SkillTool):
    """Runs a Python or shell script in a copy of its skill's folder."""

    TOOL_NAME: ClassVar[str] = RUN_SKILL_SCRIPT

    def __init__(self, toolset: Skills, timeout: int, *, keeps_files: bool = False) -> None:
        """Describe the tool.

        Args:
            toolset: Whose skills they are.
            timeout: How long a shell script may take, in seconds.
            keeps_files: Whether files that a script makes become artifacts.
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
        if output.ended is not None:
            result = output.ended
        told = {
            "skill_name": skill.name,
            "file_path": args["file_path"],
            "stdout": output.stdout,
            "stderr": result.stderr,
            "status": _status(result, output.stdout),
        }
        if saved := await save(context, output.files):
            told["saved_artifacts"] = saved
        if output.skipped:
            told["skipped_artifacts"] = output.skipped
        return told

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
    """Runs a command beside the files of a skill, in the environment of the toolset."""

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
            ended = await self._workspace.run(skill, path, args["command"], self._timeout)
        except Exception as error:  # users' environments
            raise failed(args, error) from error
        return {
            "stdout": ended.stdout,
            "stderr": ended.stderr,
            "exit_code": ended.exit_code,
            "timed_out": ended.timed_out,
        }


def script_of(skill: Skill, args: dict[str, Any], context: "Context") -> str:
    """The path in `scripts/` of the script that the model named; SkillError if there is none."""
    name = str(args["file_path"]).removeprefix("scripts/")
    if skill.resources.get_script(name) is None:
        raise not_found("SCRIPT", f"Script '{args['file_path']}'", skill, context)
    return name


def failed(args: dict[str, Any], error: Exception) -> SkillError:
    """What the model is told of a script that could not be run."""
    said = f"{type(error).__name__}: {str(error)[:200]}"
    return SkillError("EXECUTION_ERROR", f"Failed to execute script '{args['file_path']}':\n{said}")


def executor_of(context: "ReadonlyContext") -> BaseCodeExecutor | None:
    """The code executor of the agent; None for agents that have none."""
    agent = context._invocation_context.agent
    if agent is None or "code_executor" not in type(agent).model_fields:
        return None
    return cast("LlmAgent", agent).code_executor


def script_arguments(args: dict[str, Any]) -> list[str]:
    """The arguments for the script, from what the model wrote.

    Raises:
        SkillError: they are not of the declared types, or are given in two ways.
    """
    given, short = args.get("args"), args.get("short_options")
    positional = args.get("positional_args")
    wrong = []
    if not isinstance(given, dict | list | None):
        wrong.append("'args' must be an object or a list of strings.")
    if not isinstance(short, dict | None):
        wrong.append("'short_options' must be an object.")
    if not isinstance(positional, list | None):
        wrong.append("'positional_args' must be a list of strings.")
    if isinstance(given, list) and (short or positional):
        wrong.append("If 'args' is a list, it must be alone.")
    if wrong:
        raise SkillError("INVALID_ARGUMENTS", "\n".join(wrong))
    if isinstance(given, list):
        return [str(one) for one in given]
    found = [word for key, value in (given or {}).items() for word in (f"--{key}", str(value))]
    found += [word for key, value in (short or {}).items() for word in (f"-{key}", str(value))]
    return [*found, "--", *map(str, positional)] if positional else found


def _status(result: CodeExecutionResult, stdout: str) -> str:
    """How it ended; by its exit status, or if there is none by what it wrote."""
    if result.exit_code or (result.stderr and not stdout):
        return "error"
    return "warning" if result.stderr else "success"
