"""Who wrote a state key, as lines of a terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from devui.cli.lines import json_words, plain


def blame_lines(history: Mapping[str, Any]) -> list[str]:
    """Each write with what it changed, oldest first; then what of the value is from which."""
    key = plain(history["key"])
    lines = [line for write in history["writes"] for line in _write(write, key)]
    if not lines:
        place = f" at {history['path']}" if history["path"] else ""
        return [f"nobody has written {key}{plain(place)}"]
    if history["earlier"]:
        lines.insert(0, "earlier writes are not shown")
    if len(history["blame"]) > 1:
        lines.append(click.style(f"{key} now", bold=True))
        lines += [f"      {_place(key, each['path'])}  {_who(each)}" for each in history["blame"]]
    return lines


def _write(write: Mapping[str, Any], key: str) -> Iterator[str]:
    yield click.style(_who(write), bold=True)
    for change in write["changes"]:
        old = json_words(change["old"]) if "old" in change else "nothing"
        new = json_words(change["new"]) if "new" in change else "nothing"
        yield f"      {_place(key, change['path'])}: {old} → {new}"
    if not write["changes"]:
        yield f"      {key}: the same value again"
    for edit in write["edits"]:
        yield f"      {plain(edit['action'])} by {plain(edit['by'])}"
    for other in write["overlaps"]:
        text = f"      written by {plain(other)}, too, at the same time: last writer wins"
        yield click.style(text, fg="yellow")


def _who(write: Mapping[str, Any]) -> str:
    if write["writer"] == "initial":
        return "start"
    tools = f" via {', '.join(plain(tool) for tool in write['tools'])}" if write["tools"] else ""
    author = f" {plain(write['author'])}" if write["author"] else ""
    if write["writer"] == "elsewhere":
        known = write["session"]
        there = f"session {known}" if known else "a session that is not known any more"
        return f"elsewhere, {there}{author}{tools}"
    return f"#{write['number']}{author}{tools}"


def _place(key: str, path: str) -> str:
    inside = path if not path or path.startswith("[") else f".{path}"
    return key + plain(inside)
