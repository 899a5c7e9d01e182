"""Skills as a model reads about them (adk-runtime 8.8)."""

import html
from collections.abc import Sequence

from devui.runtime.skills.models import Frontmatter, Skill


def format_skills_as_xml(skills: Sequence[Frontmatter | Skill]) -> str:
    """The names and descriptions, in `<available_skills>`."""
    lines = ["<available_skills>"]
    for skill in skills:
        for tag, text in (("name", skill.name), ("description", skill.description)):
            opening = ["<skill>"] if tag == "name" else []
            lines += [*opening, f"<{tag}>", html.escape(text), f"</{tag}>"]
        lines.append("</skill>")
    return "\n".join([*lines, "</available_skills>"])
