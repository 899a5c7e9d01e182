"""What differs between two events, as the row of a comparison unfolds to it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from devui.debugger.blame import ABSENT, Difference, Found
from devui.debugger.compare.changes import Section
from devui.debugger.compare.moments import MomentDiff, Prompts
from devui.debugger.compare.steps import Aspect
from devui.debugger.paths import path_text
from devui.debugger.statediff import StateChange
from devui.store.state import prefixed
from devui.web.parts import every as parts
from devui.web.presenters.promptdiff import around, prompt_diff
from devui.web.text.figures import plural
from devui.web.text.jsontree import json_tree
from devui.web.text.visible import visible
from devui.web.text.worddiff import word_diff

WORDS: Final[dict[Aspect, str]] = {
    "text": "text",
    "calls": "arguments",
    "results": "result",
    "state": "state",
    "artifacts": "files",
    "actions": "actions",
    "error": "error",
    "other": "other fields",
}
"""The aspects of an event, as people call them."""
_TITLES: Final[dict[Aspect, str]] = {
    "text": "Text",
    "calls": "Call of {name}",
    "results": "Result of {name}",
    "state": "State changes",
    "artifacts": "Files saved",
    "actions": "Actions",
    "error": "How it ended",
    "other": "Other fields",
}
_MOST: Final = 60
"""Differences of one section."""
_LONG: Final = 60
"""Characters from which on two texts are compared word by word."""
NOUNS: Final = {
    "model": "the model",
    "system": "the system instruction",
    "tools": "the tools",
    "config": "the settings",
    "messages": "the messages",
}
"""The pieces of a prompt, as people call them."""


def pair_diff(diff: MomentDiff) -> parts.PairDiff:
    """Every aspect in which the events differ, then the state after them, then the prompts."""
    found = [_section(section) for section in diff.sections]
    if diff.state:
        found.append(_state(diff.state))
    sent = diff.prompts if diff.prompts and diff.prompts.differing else None
    return parts.PairDiff(tuple(found), " ".join(_said(diff)), _sent(sent) if sent else None)


def _sent(prompts: Prompts) -> parts.PromptDiff:
    """The difference of the prompts; of no cache, since none is shared by two runs."""
    diff = prompt_diff(prompts.left, prompts.before, prompts.after)
    return replace(diff, blocks=_unmarked(diff.blocks), tools=_unmarked(diff.tools))


def _unmarked(blocks: Iterable[parts.DiffBlock]) -> tuple[parts.DiffBlock, ...]:
    return tuple(replace(block, breaks=False) for block in blocks)


def _said(diff: MomentDiff) -> Iterator[str]:
    if diff.left is None or diff.right is None:
        side = "left" if diff.left else "right"
        yield f"Only the {side} side has this event."
        return
    if not diff.sections:
        yield "The two events say and do the same."
    if not diff.state:
        yield "The state after them is the same."
    if diff.prompts:
        yield _of_prompts(diff.prompts)


def _of_prompts(prompts: Prompts) -> str:
    if not prompts.differing:
        return "The models were sent the same."
    nouns = [NOUNS[name] for name in prompts.differing]
    told = nouns[0] if len(nouns) == 1 else f"{', '.join(nouns[:-1])} and {nouns[-1]}"
    return f"Of what was sent to the models, {told} {'differ' if _several(nouns) else 'differs'}."


def _several(nouns: Sequence[str]) -> bool:
    return len(nouns) > 1 or nouns[0].endswith("s")


def _section(section: Section) -> parts.PairSection:
    return parts.PairSection(
        title=visible(_TITLES[section.aspect].format(name=section.name or "a tool")),
        values=tuple(_value(each, "") for each in section.differences[:_MOST]),
        more=_more(len(section.differences)),
    )


def _state(changes: Sequence[StateChange]) -> parts.PairSection:
    """The state of the right side against that of the left."""
    lines = [
        (prefixed(change.scope, change.key), each)
        for change in changes
        for each in change.differences
    ]
    return parts.PairSection(
        title="State after them",
        values=tuple(_value(each, key) for key, each in lines[:_MOST]),
        more=_more(len(lines)),
    )


def _more(count: int) -> str:
    return f"{plural(count - _MOST, 'more difference')}" if count > _MOST else ""


def _value(each: Difference, key: str) -> parts.ComparedValue:
    path = path_text(each.path)
    place = key + (path if path.startswith("[") or not path or not key else f".{path}")
    old, new = each.old, each.new
    if isinstance(old, str) and isinstance(new, str) and max(len(old), len(new)) > _LONG:
        return parts.ComparedValue(visible(place), None, None, _sided(old, new))
    if not place and (isinstance(old, str) or isinstance(new, str)):
        texts = [each if isinstance(each, str) else "" for each in (old, new)]
        return parts.ComparedValue("", None, None, _sided(*texts))
    return parts.ComparedValue(visible(place), _tree(old), _tree(new))


def _tree(value: Found) -> parts.JsonTree | None:
    return None if value is ABSENT else json_tree(value, open_levels=1)


def _sided(old: str, new: str) -> parts.SidedText:
    pieces = tuple(around(word_diff(old, new)))
    return parts.SidedText(
        left=tuple(piece for piece in pieces if piece[0] != "added"),
        right=tuple(piece for piece in pieces if piece[0] != "removed"),
    )
