"""Skills in folders: SKILL.md, with references, assets and scripts beside it (adk-runtime 8.8).

Reading them needs `pip install devui[yaml]`, since the head of SKILL.md is YAML.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from devui.runtime.skills.models import Frontmatter, Resources, Script, Skill
from devui.runtime.yaml_text import parse_yaml

logger = logging.getLogger(__name__)

_FENCE = "---"
_NAMES = ("SKILL.md", "skill.md")


def load_skill_from_dir(skill_dir: str | Path) -> Skill:
    """Load the skill in a folder, with all its files.

    Raises:
        FileNotFoundError: The folder, or SKILL.md in it, doesn't exist.
        ValueError: SKILL.md is invalid, or names another folder.
    """
    folder = Path(skill_dir).resolve()
    frontmatter, body = _read(folder)
    scripts = {
        name: Script(src=source)
        for name, source in _files(folder / "scripts").items()
        if isinstance(source, str) or _is_skipped(folder, name)
    }
    resources = Resources(
        references=_files(folder / "references"), assets=_files(folder / "assets"), scripts=scripts
    )
    return Skill(frontmatter=frontmatter, instructions=body, resources=resources)


def load_skills_from_dir(skills_dir: str | Path) -> list[Skill]:
    """Load the skills in the subfolders of a folder, by name; skips folders without SKILL.md.

    Raises:
        FileNotFoundError: The folder doesn't exist.
        ValueError: It isn't a folder, or one of the skills is invalid.
    """
    folder = Path(skills_dir).resolve()
    if not folder.exists():
        raise FileNotFoundError(f"The skills folder {folder} does not exist.")
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder.")
    return [load_skill_from_dir(each) for each in sorted(folder.iterdir()) if _skill_file(each)]


def list_skills_in_dir(
    skills_base_path: str | Path, on_error: Callable[[str, Exception], None] | None = None
) -> dict[str, Frontmatter]:
    """List the skills in the subfolders of a folder, by name.

    Args:
        skills_base_path: The folder.
        on_error: Called for each folder without a valid skill, with its name and the reason; it
            may raise to stop the listing. Without it, such folders are logged and skipped.
    """
    folder = Path(skills_base_path).resolve()
    if not folder.is_dir():
        logger.warning("%s is not a skills folder.", folder)
        return {}
    frontmatters = {}
    for each in sorted(one for one in folder.iterdir() if one.is_dir()):
        try:
            frontmatters[each.name] = _read(each)[0]
        except (OSError, ValueError) as error:
            if on_error is None:
                logger.warning("%s is not a valid skill: %s", each, error)
            else:
                on_error(each.name, error)
    return frontmatters


async def load_skill_from_dir_async(skill_dir: str | Path) -> Skill:
    """Run `load_skill_from_dir` in a thread."""
    return await asyncio.to_thread(load_skill_from_dir, skill_dir)


async def load_skills_from_dir_async(skills_dir: str | Path) -> list[Skill]:
    """Run `load_skills_from_dir` in a thread."""
    return await asyncio.to_thread(load_skills_from_dir, skills_dir)


async def list_skills_in_dir_async(
    skills_base_path: str | Path, on_error: Callable[[str, Exception], None] | None = None
) -> dict[str, Frontmatter]:
    """Run `list_skills_in_dir` in a thread."""
    return await asyncio.to_thread(list_skills_in_dir, skills_base_path, on_error)


def _skill_file(folder: Path) -> Path | None:
    return next((folder / name for name in _NAMES if (folder / name).is_file()), None)


def _read(folder: Path) -> tuple[Frontmatter, str]:
    if not folder.is_dir():
        raise FileNotFoundError(f"The skill folder {folder} does not exist.")
    file = _skill_file(folder)
    if file is None:
        raise FileNotFoundError(f"There is no SKILL.md in {folder}.")
    head, body = _parted(file)
    try:
        frontmatter = Frontmatter.model_validate(head)
    except ValidationError as error:
        raise ValueError(f"{file}: {error}") from error
    if frontmatter.name != folder.name:
        raise ValueError(
            f"{file}: the skill is named {frontmatter.name!r}, but its folder {folder.name!r};"
            " give both the same name."
        )
    return frontmatter, body


def _parted(file: Path) -> tuple[dict[str, Any], str]:
    opening, *rest = file.read_text(encoding="utf-8").split(_FENCE, 2)
    if opening or len(rest) != 2:
        raise ValueError(f"{file} must begin with YAML front matter between two {_FENCE} lines.")
    try:
        head = parse_yaml(rest[0])
    except ValueError as error:
        raise ValueError(f"The front matter of {file}: {error}") from error
    if not isinstance(head, dict):
        raise ValueError(  # noqa: TRY004  the text is wrong, not its type
            f"{file}: each line of the front matter must have the form `name: …`."
        )
    return head, rest[1].strip()


def _files(folder: Path) -> dict[str, str | bytes]:
    """Return the files in a folder and below it, by path; bytes if they aren't text."""
    files: dict[str, str | bytes] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or "__pycache__" in path.parts:
            continue
        data = path.read_bytes()
        try:
            files[path.relative_to(folder).as_posix()] = data.decode("utf-8")
        except UnicodeDecodeError:
            files[path.relative_to(folder).as_posix()] = data
    return files


def _is_skipped(folder: Path, name: str) -> bool:
    logger.warning("The script %s of %s isn't text; skipping it.", name, folder)
    return False
