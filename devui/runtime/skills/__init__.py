"""Skills: instructions and files for one kind of work. Names are loaded on first use.

`load_skill_from_dir` and related functions need `pip install devui[yaml]`.
"""

from typing import TYPE_CHECKING

from devui.runtime.exports import lazy

if TYPE_CHECKING:
    from devui.runtime.skills.models import Frontmatter, Resources, Script, Skill, SkillRegistry
    from devui.runtime.skills.skill_folders import (
        list_skills_in_dir,
        list_skills_in_dir_async,
        load_skill_from_dir,
        load_skill_from_dir_async,
        load_skills_from_dir,
        load_skills_from_dir_async,
    )

__all__ = [
    "Frontmatter",
    "Resources",
    "Script",
    "Skill",
    "SkillRegistry",
    "list_skills_in_dir",
    "list_skills_in_dir_async",
    "load_skill_from_dir",
    "load_skill_from_dir_async",
    "load_skills_from_dir",
    "load_skills_from_dir_async",
]

__getattr__ = lazy(
    __name__,
    {
        "Frontmatter": "models",
        "Resources": "models",
        "Script": "models",
        "Skill": "models",
        "SkillRegistry": "models",
        "list_skills_in_dir": "skill_folders",
        "list_skills_in_dir_async": "skill_folders",
        "load_skill_from_dir": "skill_folders",
        "load_skill_from_dir_async": "skill_folders",
        "load_skills_from_dir": "skill_folders",
        "load_skills_from_dir_async": "skill_folders",
    },
)
