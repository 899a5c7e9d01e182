"""What a model is told about skills (agentskills.io)."""

from collections.abc import Collection
from pathlib import PurePath

LIST_SKILLS = "list_skills"
SEARCH_SKILLS = "search_skills"
LOAD_SKILL = "load_skill"
LOAD_SKILL_RESOURCE = "load_skill_resource"
RUN_SKILL_SCRIPT = "run_skill_script"

_ALWAYS = (LIST_SKILLS, LOAD_SKILL, LOAD_SKILL_RESOURCE, RUN_SKILL_SCRIPT)

_INTRODUCTION = """\
You have skills: folders with instructions and files for certain kinds of work. A skill has
- SKILL.md: what it is for, and how to go about it;
- references/: more to read, if there is any;
- assets/: templates and other material, if there is any;
- scripts/: {scripts}.

Rules:
"""


def skill_instruction(
    *,
    prefix: str | None = None,
    offered: Collection[str] | None = None,
    runs_scripts: bool = True,
    folder: PurePath | None = None,
) -> str:
    """The rules for the tools that are offered.

    Args:
        prefix: That of the tools' names.
        offered: The tools that there are; None for all.
        runs_scripts: Whether scripts can be run.
        folder: Where the skills are, if scripts are run by commands.
    """
    named = {tool: f"{prefix}_{tool}" if prefix else tool for tool in _ALWAYS}
    load, resource = f"`{named[LOAD_SKILL]}`", f"`{named[LOAD_SKILL_RESOURCE]}`"
    run = f"`{named[RUN_SKILL_SCRIPT]}`"
    rules = [
        f"If a skill fits the task, you must read it by {load} before you do anything else.",
        "Then follow its instructions to the letter and to the end, step by step.",
        f"Read the files of a skill by {resource} alone. Files of the user are not among them.",
        f"If {resource} fails, try no other path: tell the user, and stop.",
    ]
    if runs_scripts:
        rules.append(f"Run the scripts of a skill by {run}; read them first if you need to.")
        if folder is not None:
            rules.append(
                f"In the command of {run}, the files of a skill are those in"
                f" {folder.as_posix()}/<name of the skill>/; write their whole paths."
            )
        rules.append(f"If {run} fails, try no other script: tell the user, and stop.")
    rules.append(
        f"Reading a skill is not the answer. After {load} go on in the same turn: call the tools"
        " that its steps need, and then answer."
    )
    scripts = "programs to run" if runs_scripts else f"programs to read by {resource}; none can run"
    numbered = "\n".join(f"{number}. {rule}" for number, rule in enumerate(rules, 1))
    missing = [f"`{named[tool]}`" for tool in _ALWAYS if offered and tool not in offered]
    told = f"{_INTRODUCTION.format(scripts=scripts)}{numbered}\n"
    if not missing:
        return told
    return (
        f"{told}\nThese tools are not available, do not call them: {', '.join(missing)}. Answer in"
        " plain text.\n"
    )
