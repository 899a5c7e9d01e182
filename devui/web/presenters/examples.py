"""The example prompts of an app's README (fenced blocks under a heading that announces them)."""

import re

_HEADING = re.compile(r"#{1,6}\s+.*\b(sample|example)s?\s+(input|prompt)s?\b", re.IGNORECASE)
_ANY_HEADING = re.compile(r"#{1,6}\s")
_FENCE = "```"
MOST = 6
"""How many prompts are offered at the most."""


def example_prompts(readme: str) -> list[str]:
    """The prompts in order; an app without such a section has none."""
    prompts: list[str] = []
    wanted = False
    block: list[str] | None = None
    for line in readme.splitlines():
        if block is not None:
            if line.strip() == _FENCE:
                prompts += [text] if (text := "\n".join(block).strip()) else []
                block = None
            else:
                block.append(line)
        elif line.startswith(_FENCE):
            block = [] if wanted else None
            wanted = wanted and line.count(_FENCE) == 1
        elif _ANY_HEADING.match(line):
            wanted = bool(_HEADING.match(line))
    return prompts[:MOST]
