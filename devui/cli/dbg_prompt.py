"""`devui dbg prompt`: what was sent to a model or a tool, and how it differs from another call."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import click

from devui.cli.client import Client
from devui.cli.failures import Misused, NotThere
from devui.cli.finding import Terminal, on_the_server
from devui.cli.lines import plain
from devui.cli.naming import session_of
from devui.cli.orders import session_option
from devui.web.text.visible import visible

_SIGNS: Final = {"added": "+", "removed": "-", "changed": "≠", "same": "="}
_COLOURS: Final = {"added": "green", "removed": "red"}
_SPACE: Final = "  "


@click.command("prompt")
@click.argument("number", type=int)
@click.option("--diff", is_flag=True, help="How it differs from the same agent's call before.")
@click.option("--with", "other", type=int, metavar="NUMBER", help="… from that of this event.")
@session_option
@on_the_server
def prompt(
    terminal: Terminal, number: int, *, diff: bool, other: int | None, session: str | None
) -> None:
    """Show what event NUMBER came of: the prompt as it was sent, or a tool's arguments.

    That is after the last callback: system instruction, tools, settings and messages.
    """
    client, key = terminal.client, session_of(terminal.client, session)["key"]
    found = _spans(client, key, number)
    if not diff and other is None:
        for span in found:
            told = client.get("api", "sessions", key, "spans", span["id"])
            terminal.say(told, _model_lines if span["type"] == "model" else _tool_lines)
        return
    than = None if other is None else _model_call(_spans(client, key, other), other)["id"]
    asked = ("api", "sessions", key, "spans", _model_call(found, number)["id"], "diff")
    terminal.say(client.get(*asked, **{"with": than}), _diff_lines)


def _spans(client: Client, key: int, number: int) -> list[dict[str, Any]]:
    """The model call, or the tool calls, that an event came of; raises NotThere."""
    found = client.listed("api", "sessions", key, "spans", event=number)
    if not found:
        raise NotThere(f"nothing was sent for #{number}: no call of a model or a tool led to it")
    return [each for each in found if each["type"] == "model"][-1:] or found


def _model_call(spans: list[dict[str, Any]], number: int) -> dict[str, Any]:
    if spans[0]["type"] != "model":
        raise Misused(f"#{number} came of a tool and not of a model: it has no prompt to compare")
    return spans[0]


def _model_lines(told: Mapping[str, Any]) -> list[str]:
    sent = told["sent"]
    if sent is None:
        return [f"the request of {plain(told['agent'])} was not kept"]
    head = f"{plain(sent['model'] or told['name'])}  asked by {plain(told['agent'])}"
    lines = [click.style(head + ("  streaming" if sent["stream"] else ""), bold=True)]
    lines += _block("system", _texts(sent["system"])) if sent["system"] else []
    lines += _block("tools", map(_tool, _declared(sent["tools"]))) if sent["tools"] else []
    lines += _block("settings", [_json(sent["config"])]) if sent["config"] else []
    for content in sent["contents"]:
        lines += _block(str(content.get("role") or "message"), _texts(content.get("parts")))
    return lines


def _tool_lines(told: Mapping[str, Any]) -> list[str]:
    head = f"{plain(told['name'])}  called by {plain(told['agent'])}"
    lines = [click.style(head, bold=True), *_block("arguments", [_json(told["sent"])])]
    if told["error"]:
        return [*lines, *_block("error", [plain(told["error"])])]
    return [*lines, *_block("result", [_json(told["result"])])]


def _diff_lines(told: Mapping[str, Any]) -> list[str]:
    place = f"#{told['withEvent']}" if told["withEvent"] else f"span {told['with']}"
    lines = [click.style(f"compared with {place}", bold=True)]
    lines += [plain(told["verdict"])] if told["verdict"] else []
    for name in ("blocks", "tools", "config"):
        about = "" if name == "blocks" else f"{name} "
        for block in told[name]:
            lines += _difference(about, block)
    return lines


def _difference(about: str, block: Mapping[str, Any]) -> Iterator[str]:
    if block["breaks"]:
        yield click.style("cache prefix breaks here", fg="yellow")
    note = f"  ({plain(block['note'])})" if block["note"] else ""
    yield f"{_SIGNS[block['kind']]} {about}{plain(block['label'])}{note}"
    for piece in block["pieces"]:
        sign = _SIGNS[piece["kind"]] if piece["kind"] != "same" else " "
        for line in visible(piece["text"]).splitlines():
            yield click.style(f"{_SPACE}{sign} {line}".rstrip(), fg=_COLOURS.get(piece["kind"]))


def _block(name: str, lines: Iterable[str]) -> list[str]:
    return [click.style(plain(name), fg="blue"), *(f"{_SPACE}{line}" for line in lines)]


def _texts(value: Any) -> Iterator[str]:
    """The lines of a text, or of a content's parts; what is no text is one of JSON."""
    for part in value if isinstance(value, list) else [value]:
        text = part if isinstance(part, str) else part.get("text")
        if text is None:
            yield _json(part)
        else:
            yield from visible(text).splitlines()


def _declared(tools: Any) -> Iterator[Mapping[str, Any]]:
    for tool in tools:
        yield from tool.get("functionDeclarations") or [{"name": name} for name in tool]


def _tool(told: Mapping[str, Any]) -> str:
    schema = told.get("parameters") or told.get("parametersJsonSchema") or {}
    names = ", ".join(map(plain, schema.get("properties") or {}))
    about = plain(str(told.get("description") or "").strip().partition("\n")[0])
    return f"{plain(str(told.get('name')))}({names})  {about}".rstrip()


def _json(value: Any) -> str:
    return plain(json.dumps(value, ensure_ascii=False))
