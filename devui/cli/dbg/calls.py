"""`devui dbg end`, `prompt`, `tools` and `try`: single calls of models and tools."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from devui.cli.dbg.arguments import json_object
from devui.cli.dbg.control import (
    key_option,
    no_wait_option,
    say_end,
    say_where,
    session_option,
)
from devui.cli.follow import newest_number
from devui.cli.lookup import active_run, app_of, session_of
from devui.cli.output import json_words, plain
from devui.cli.server import Terminal, on_the_server
from devui.client import Client
from devui.failures import BadRequestError, ConflictError, NotFoundError
from devui.web.text.deceptive_characters import visible

if TYPE_CHECKING:
    from devui.debugger.guard.effects import EffectChoice
    from devui.web.panels.trace.api import SpanJson


@click.command()
@click.argument("call")
@click.argument("value", required=False)
@click.option("--why", help="Reason to give the agent; only without VALUE.")
@session_option
@key_option
@no_wait_option
@on_the_server
def end(
    terminal: Terminal,
    call: str,
    value: str | None,
    why: str | None,
    session: str | None,
    key: str | None,
    no_wait: bool,
) -> None:
    """End the active call CALL: fail it, or answer it with VALUE. The run continues.

    CALL is a number from `devui dbg why`, a call id, or the name of the tool or model. VALUE is
    JSON or plain text; `-` reads it from standard input.
    """
    if value is not None and why is not None:
        raise BadRequestError("--why and VALUE can't be combined; give one of them")
    position = active_run(terminal.client, session, or_over=key is not None)
    target = int(call) if call.isdecimal() else call
    before = newest_number(terminal.client, position["session"])
    if value is None:
        new_position = terminal.client.end_call(position["run"], "end", target, key=key, value=why)
    else:
        answer = _value(sys.stdin.read() if value == "-" else value)
        new_position = terminal.client.end_call(
            position["run"], "answer", target, key=key, value=answer
        )
    (say_where if no_wait else say_end)(terminal, new_position, before)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


_SIGNS: Final = {"added": "+", "removed": "-", "changed": "≠", "same": "="}
_COLORS: Final = {"added": "green", "removed": "red"}
_SPACE: Final = "  "


@click.command("prompt")
@click.argument("number", type=int)
@click.option("--diff", is_flag=True, help="Compare with the agent's previous call.")
@click.option(
    "--with", "other", type=int, metavar="NUMBER", help="Compare with the prompt of this event."
)
@session_option
@on_the_server
def prompt(
    terminal: Terminal, number: int, *, diff: bool, other: int | None, session: str | None
) -> None:
    """Show what led to event NUMBER: the prompt as it was sent, or a tool's arguments and result.

    The prompt is shown after the last callback: system instruction, tools, settings and messages.
    """
    client, key = terminal.client, session_of(terminal.client, session)["key"]
    spans = _spans(client, key, number)
    if not diff and other is None:
        for span in spans:
            answer = client.span(key, span["id"])
            terminal.say(answer, _model_lines if span["type"] == "model" else _tool_lines)
        return
    than = None if other is None else _model_call(_spans(client, key, other), other)["id"]
    answers = client.compare_prompts(key, _model_call(spans, number)["id"], with_=than)
    terminal.say(answers, _diff_lines)


def _spans(client: Client, key: int, number: int) -> "list[SpanJson]":
    """Return the model call or the tool calls that produced an event. Raises NotFoundError."""
    spans = client.spans(key, event=number)
    if not spans:
        raise NotFoundError(f"#{number} has no prompt: it wasn't produced by a model or tool call")
    return [each for each in spans if each["type"] == "model"][-1:] or spans


def _model_call(spans: "list[SpanJson]", number: int) -> "SpanJson":
    if spans[0]["type"] != "model":
        raise BadRequestError(
            f"#{number} has no prompt to compare: it was produced by a tool, not a model"
        )
    return spans[0]


def _model_lines(answer: Mapping[str, Any]) -> list[str]:
    request = answer["sent"]
    if request is None:
        return [f"the request of {plain(answer['agent'])} was not recorded"]
    head = f"{plain(request['model'] or answer['name'])}  asked by {plain(answer['agent'])}"
    lines = [click.style(head + ("  streaming" if request["stream"] else ""), bold=True)]
    lines += _block("system", _texts(request["system"])) if request["system"] else []
    lines += _block("tools", map(_tool, _declared(request["tools"]))) if request["tools"] else []
    lines += _block("settings", [_json(request["config"])]) if request["config"] else []
    for content in request["contents"]:
        lines += _block(str(content.get("role") or "message"), _texts(content.get("parts")))
    return lines


def _tool_lines(answer: Mapping[str, Any]) -> list[str]:
    head = f"{plain(answer['name'])}  called by {plain(answer['agent'])}"
    lines = [click.style(head, bold=True), *_block("arguments", [_json(answer["sent"])])]
    if answer["error"]:
        return [*lines, *_block("error", [plain(answer["error"])])]
    return [*lines, *_block("result", [_json(answer["result"])])]


def _diff_lines(answer: Mapping[str, Any]) -> list[str]:
    place = f"#{answer['withEvent']}" if answer["withEvent"] else f"span {answer['with']}"
    lines = [click.style(f"compared with {place}", bold=True)]
    lines += [plain(answer["verdict"])] if answer["verdict"] else []
    for name in ("blocks", "tools", "config"):
        about = "" if name == "blocks" else f"{name} "
        for block in answer[name]:
            lines += _difference(about, block)
    return lines


def _difference(about: str, block: Mapping[str, Any]) -> Iterator[str]:
    if block["breaksCache"]:
        yield click.style("cache prefix breaks here", fg="yellow")
    note = f"  ({plain(block['note'])})" if block["note"] else ""
    yield f"{_SIGNS[block['kind']]} {about}{plain(block['label'])}{note}"
    for piece in block["pieces"]:
        sign = _SIGNS[piece["kind"]] if piece["kind"] != "same" else " "
        for line in visible(piece["text"]).splitlines():
            yield click.style(f"{_SPACE}{sign} {line}".rstrip(), fg=_COLORS.get(piece["kind"]))


def _block(name: str, lines: Iterable[str]) -> list[str]:
    return [click.style(plain(name), fg="blue"), *(f"{_SPACE}{line}" for line in lines)]


def _texts(value: Any) -> Iterator[str]:
    """Yield the lines of a text, or of a content's parts; other parts are a line of JSON."""
    for part in value if isinstance(value, list) else [value]:
        text = part if isinstance(part, str) else part.get("text")
        if text is None:
            yield _json(part)
        else:
            yield from visible(text).splitlines()


def _declared(tools: Any) -> Iterator[Mapping[str, Any]]:
    for tool in tools:
        yield from tool.get("functionDeclarations") or [{"name": name} for name in tool]


def _tool(answer: Mapping[str, Any]) -> str:
    schema = answer.get("parameters") or answer.get("parametersJsonSchema") or {}
    names = ", ".join(map(plain, schema.get("properties") or {}))
    about = plain(str(answer.get("description") or "").strip().partition("\n")[0])
    return f"{plain(str(answer.get('name')))}({names})  {about}".rstrip()


def _json(value: Any) -> str:
    return plain(json.dumps(value, ensure_ascii=False))


_AS_IN_CODE: Final = "as_in_code"
_EFFECTS: "Final[dict[str, EffectChoice | None]]" = {
    "read_only": "read_only",
    "idempotent": "idempotent",
    "effects": "effects",
    _AS_IN_CODE: None,
}
_RAISED: Final = 1
"""The exit status if the tool raised."""


@click.command("tools")
@click.argument("tool", required=False)
@click.option(
    "--is",
    "effect",
    type=click.Choice(list(_EFFECTS)),
    help=f"Set the effect class of TOOL; {_AS_IN_CODE} resets it.",
)
@click.option(
    "--app", metavar="NAME", help="App of the tool; by default the session's, or the only one."
)
@session_option
@on_the_server
def tools(
    terminal: Terminal,
    tool: str | None,
    *,
    effect: str | None,
    app: str | None,
    session: str | None,
) -> None:
    """List an app's tools, or just TOOL, with their effect classes."""
    if effect and tool is None:
        raise BadRequestError("name the tool: devui dbg tools TOOL --is read_only")
    name = app_of(terminal.client, app, session)
    client = terminal.client
    answer = [each for each in client.tools(name)["tools"] if tool in {None, each["name"]}]
    if tool is not None and not answer:
        raise NotFoundError(
            f"{name} has no tool {tool}; run `devui dbg tools --app {name}` to list them"
        )
    if effect:
        answer = [client.set_effect(name, str(tool), _EFFECTS[effect])]
    terminal.say(answer, _tools)


@click.command("try")
@click.argument("tool")
@click.argument("args", required=False, default="{}")
@click.option("--at", type=int, help="Use the state as of this event.")
@click.option("--yes", "confirm", is_flag=True, help="Run it even if it may have effects.")
@session_option
@on_the_server
def try_(
    terminal: Terminal, tool: str, args: str, *, at: int | None, confirm: bool, session: str | None
) -> None:
    """Run TOOL alone with ARGS, a JSON object, on a copy of the session's state.

    Nothing is committed; state writes are only shown. Side effects outside the session are real.
    Exit status: 1 if the tool raised.
    """
    row = session_of(terminal.client, session)
    arguments = json_object("the arguments", args)
    try:
        trial = terminal.client.try_tool(
            row["app"], tool, args=arguments, session=row["key"], event=at, confirm=confirm
        )
    except ConflictError as conflict:
        message = conflict.message.replace("set `confirm` to run it", "add --yes to run it")
        raise ConflictError(message) from conflict
    terminal.say(trial, _trial)
    if trial["error"] is not None:
        sys.exit(_RAISED)


def _tools(answer: Sequence[Mapping[str, Any]]) -> list[str]:
    return [
        f"{plain(each['name'])}  {each['effect']}{_source(each)}  "
        f"{plain(', '.join(each['agents']))}"
        for each in answer
    ] or ["the app has no tools"]


def _source(answer: Mapping[str, Any]) -> str:
    if answer["by"]:
        return f", set by {plain(answer['by'])}"
    return "" if answer["source"] == "nobody" else f" ({answer['source']})"


def _trial(answer: Mapping[str, Any]) -> list[str]:
    return list(_lines(answer))


def _lines(answer: Mapping[str, Any]) -> Iterator[str]:
    error = answer["error"]
    if error is not None:
        yield click.style(plain(f"{error['type']}: {error['message']}"), fg="red")
        return
    yield json_words(answer["result"].get("result"))
    actions = dict(answer["result"]["actions"])
    for key, value in actions.pop("stateDelta", {}).items():
        yield f"      would write {plain(key)}: {json_words(value)}"
    for name, value in actions.items():
        yield f"      would do {plain(name)}: {json_words(value)}"
