"""`devui run`: talks to an agent in the terminal, in turns or with one message."""

import json
import re
import shlex
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from devui.cli.chat import (
    DONE,
    USER,
    Chat,
    DoubleInterrupt,
    answer_words,
    question_lines,
)
from devui.cli.follow import say_after_interrupt
from devui.cli.lookup import apps_of, session_of, session_with_id
from devui.cli.options import Effects, adk_options, engine_option, python_option
from devui.cli.output import plain
from devui.cli.server import ServerOptions, agents_option, server_options, serving
from devui.client import Client
from devui.debugger.apps.apps import AppFolder
from devui.failures import LEFT, BadRequestError, DevuiError, NotFoundError
from devui.web.text.formats import plural
from devui.wire.engines import EngineChoice

if TYPE_CHECKING:
    from devui.web.panels.runs.schemas import SessionJson


_BUNDLE: Final = "devui.session"


@dataclass(frozen=True, slots=True)
class Script:
    """The initial state and the user's messages, from a file."""

    state: dict[str, Any]
    queries: list[str]


def read_script(file: Path) -> Script:
    """Read the script from `{"state", "queries"}`, a session's JSON, or a bundle.

    The state is the session's initial one. Raises BadRequestError if the file is invalid.
    """
    content = _read(file)
    if "queries" in content:
        state, queries = content.get("state") or {}, content["queries"]
        if not isinstance(state, dict) or not _are_texts(queries):
            raise BadRequestError(
                f'{str(file)!r}: expected {{"state": {{…}}, "queries": ["…"]}}, with a text for'
                " each query"
            )
        return Script(state, queries)
    if content.get("format") == _BUNDLE:
        records = content.get("records") or []
        starts = [each["state"] for each in records if each.get("type") == "start"]
        events = [each["event"] for each in records if each.get("type") == "event"]
        return Script(starts[0] if starts else {}, _user_messages(events))
    if isinstance(content.get("events"), list):
        return Script(_state_before(content), _user_messages(content["events"]))
    raise BadRequestError(
        f'{str(file)!r} has no queries: expected {{"state": {{…}}, "queries": ["…"]}}, the JSON of'
        " a session, or a file of `devui export`"
    )


def import_session_file(client: Client, file: Path, app: str) -> "SessionJson":
    """Import a saved session so that it can be continued. Raises BadRequestError."""
    content = _read(file)
    if content.get("format") != _BUNDLE:
        content["id"] = uuid.uuid4().hex  # the saved session may still exist under its own id
    session = client.import_session(content, app=app)
    key = session["key"]
    if session.get("readOnly", True):
        key = client.fork(key, session["events"])["key"]
    return client.session(key)


def save(client: Client, session: Mapping[str, Any], folder: Path) -> Path:
    """Write the session's JSON to the folder, like `adk run --save_session`. Raises DevuiError."""
    file = folder / f"{session['id']}.session.json"
    if file.parent != folder:
        raise BadRequestError(
            f"{session['id']!r} can't be used as a file name; choose another --session-id"
        )
    try:
        whole = client.adk.get_session(session["app"], session["user"], session["id"])
        text = json.dumps(whole, ensure_ascii=False, indent=2)
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise DevuiError(f"cannot write {str(file)!r}: {error.strerror}") from error
    return file


def read_state(text: str | None, file: Path | None) -> dict[str, Any] | None:
    """Return the initial state from the options, if given. Raises BadRequestError."""
    if text is not None and file is not None:
        raise BadRequestError("--state and --state-file can't be combined; give one of them")
    if file is not None:
        return _read(file)
    if text is None:
        return None
    return _object(text, "--state")


def _read(file: Path) -> dict[str, Any]:
    try:
        return _object(file.read_text(encoding="utf-8"), repr(str(file)))
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequestError(f"cannot read {str(file)!r}: {error}") from error


def _object(text: str, where: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadRequestError(f"{where} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadRequestError(f"{where} must be a JSON object")
    return value


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _user_messages(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the texts of the user's messages."""
    messages = [event.get("content") or {} for event in events if event.get("author") == USER]
    parts = [
        [part["text"] for part in message.get("parts") or [] if "text" in part]
        for message in messages
    ]
    return ["\n".join(texts) for texts in parts if texts]


def _state_before(session: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of the keys that no event of the session wrote."""
    written_keys: set[str] = set()
    for event in session["events"]:
        written_keys |= ((event.get("actions") or {}).get("stateDelta") or {}).keys()
    return {
        key: value for key, value in (session.get("state") or {}).items() if key not in written_keys
    }


_FAILED: Final = 1
_WAITS: Final = 2
"""The exit status if the agent needs an answer and nobody can be asked, as with `adk run`."""
_KEEPS: Final = (
    "note: using the running server, with its own engine, interpreter, features and default model."
)
_UNITS: Final = {"": 1.0, "s": 1.0, "m": 60.0}

_EXAMPLES = """\b
Examples:
  devui run agents/travel                     chat with the agent
  devui run agents/travel "To London"         send one message and print the answer
  echo "To London" | devui run agents/travel  the same
  devui run agents/travel --resume 12         continue session 12
  devui run agents/travel --replay trip.json  send the messages in a file

Exit status: 0 if the agent answered, 1 if its run failed, 2 if it needs an answer and no one can be
asked, 130 after Ctrl-C; for the others see `devui dbg --help`.
"""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """The options for the messages and their session."""

    message: str | None
    session_id: str | None
    replay: Path | None
    resume: str | None
    state: dict[str, Any] | None


class Seconds(click.ParamType[float]):
    """A time such as `30s` or `5m`, converted to seconds."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Parse a time in seconds or minutes; without a unit, it is in seconds."""
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([sm]?)", str(value))
        if match is None:
            self.fail(f"{value!r} is not a time such as 30s or 5m", param, ctx)
        return float(match[1]) * _UNITS[match[2]]


@click.command("run", epilog=_EXAMPLES, short_help="Talk to an agent in the terminal.")
@click.argument("app")
@click.argument("message", required=False)
@click.option("--session-id", metavar="ID", help="Session to continue, or the id of a new one.")
@click.option(
    "--resume",
    metavar="FILE|SESSION",
    help="Continue a saved session, or one by number or id; prints the conversation first.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Send the queries of a JSON file or saved session in a new session.",
)
@click.option("--save-session", is_flag=True, help="Save the session in the agent's folder.")
@click.option("--state", metavar="JSON", help="Initial state of a new session.")
@click.option(
    "--state-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Initial state of a new session, from a file.",
)
@click.option("--timeout", type=Seconds(), help="Stop a turn after this long, such as 30s or 5m.")
@click.option("--in-memory", is_flag=True, help="Delete the session at the end.")
@agents_option
@engine_option
@python_option
@click.option("--log-level", hidden=True, expose_value=False, help="ADK's; nothing is logged.")
@adk_options("run")
@partial(
    server_options,
    json_option=click.option(
        "--jsonl", "--json", "as_json", is_flag=True, help="Print each event as a line of JSON."
    ),
)
def command(  # noqa: PLR0913  a parameter for each option
    server: ServerOptions,
    app: str,
    message: str | None,
    *,
    session_id: str | None,
    resume: str | None,
    replay: Path | None,
    save_session: bool,
    state: str | None,
    state_file: Path | None,
    timeout: float | None,
    in_memory: bool,
    agents: Path,
    engine: EngineChoice,
    python: Path | None,
    adk: Effects,
) -> None:
    """Talk to the agent APP: the path of its folder, or its name in --agents.

    With MESSAGE, or text on standard input, it answers once and exits. Without, it starts a chat.
    The session is kept; a server on the same data folder shows it live on its page.
    """
    options = ChatOptions(
        _one_of(message, replay), session_id, replay, resume, read_state(state, state_file)
    )
    own_name, folder = _app(app, agents)
    server = replace(server, data_dir=adk.data_dir or server.data_dir)
    in_memory = in_memory or adk.in_memory
    alone = in_memory or server.alone
    if not alone and (python or engine != "auto" or adk.environment):
        click.secho(_KEEPS, fg="yellow", err=True)
    server_arguments = ["--engine", engine, *(["--python", str(python)] if python else [])]
    try:
        with (
            _storage(server, in_memory=in_memory) as storage,
            serving(storage, folder, anew=True, options=server_arguments) as terminal,
        ):
            client = terminal.client
            name = _served_app(client, own_name, folder if alone else None)
            chat = Chat(
                client=client,
                session=_session(client, name, options),
                as_json=server.as_json,
                seconds=timeout,
                shows_authors=options.message is None and replay is None,
            )
            status = _talk(chat, options, is_kept=not in_memory)
            if save_session:
                file = save(client, chat.session, AppFolder.at(folder).place(own_name))
                click.echo(f"saved as {file}", err=True)
    except KeyboardInterrupt:
        say_after_interrupt("left")
        sys.exit(LEFT)
    sys.exit(status)


def _talk(chat: Chat, options: ChatOptions, *, is_kept: bool) -> int:
    """Send the messages and return the exit status; `is_kept` is false for `--in-memory`."""
    key, name = chat.session["key"], plain(str(chat.session["id"]))
    click.secho(f"session {key} ({name}) of {plain(chat.session['app'])}", dim=True, err=True)
    if options.resume is not None:
        chat.show_past()
    try:
        if options.replay is not None:
            end = _play(chat, read_script(options.replay).queries)
        elif options.message is not None:
            end = chat.say(options.message)
            end = (chat.ask() if sys.stdin.isatty() else None) or end
        else:
            chat.ask()
            chat.converse()
            return 0
    except DoubleInterrupt:
        say_after_interrupt(
            "detached; committed events stay in the session" if is_kept else "detached"
        )
        return LEFT
    return _status(chat, end, is_kept=is_kept)


def _play(chat: Chat, queries: list[str]) -> str:
    """Send messages until a run ends as anything but `done`; return how the last one ended."""
    for query in queries:
        click.secho(f"you: {plain(query)}", fg="blue", err=True)
        if (end := chat.say(query)) != DONE:
            return end
    return DONE


def _status(chat: Chat, end: str, *, is_kept: bool) -> int:
    if end != DONE:
        return LEFT if chat.interrupted else _FAILED
    if not (questions := chat.questions()):
        return 0
    form, *others = questions
    for line in question_lines(form):
        click.echo(line, err=True)
    if is_kept:
        place = f"{_command()} --session-id {shlex.quote(plain(str(chat.session['id'])))}"
        choices = form["choices"]
        example = choices[0]["value"] if len(choices) > 1 else "ANSWER"
        click.echo(f"answer with {answer_words(form)}:", err=True)
        click.echo(f"  {place} {shlex.quote(plain(example))}", err=True)
    else:
        click.echo(
            "--in-memory has deleted the session: run without it to answer later, or without"
            " MESSAGE to answer in a chat",
            err=True,
        )
    if others:
        click.echo(f"{plural(len(others), 'more question')} after this one", err=True)
    return _WAITS


_PLACES: Final = ("agents", "data_dir", "url", "engine", "python")
"""The options for where the session is and what it runs on."""


def _command() -> str:
    """Return the command line with the options that lead to the same session."""
    context = click.get_current_context()
    words = ["devui", "run", str(context.params["app"])]
    options = {name: f"--{name.replace('_', '-')}" for name in _PLACES}
    options["adk_session_service_uri"] = "--session_service_uri"
    for name, option in options.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            words += [option, str(context.params[name])]
    return shlex.join(words)


def _one_of(message: str | None, replay: Path | None) -> str | None:
    """Return the message from the command line or standard input; None for a chat or a replay."""
    if replay is not None:
        if message is not None:
            raise BadRequestError("MESSAGE and --replay can't be combined; give one of them")
        return None
    if message is None and sys.stdin.isatty():
        return None
    text = sys.stdin.read().strip() if message in {None, "-"} else message
    if not text:
        raise BadRequestError("nothing to send: give MESSAGE, or text on standard input")
    return text


def _app(app: str, agents: Path) -> tuple[str, Path]:
    """Return the name of the app, and the folder to serve.

    Raises NotFoundError if there is no such app, BadRequestError for a folder of several apps.
    """
    path = AppFolder.folder_of(Path(app))
    if path.is_file():
        raise NotFoundError(f"{app!r} is not the agent.py or root_agent.yaml of an app")
    if not path.is_dir():
        if "/" in app or app.startswith("."):
            raise NotFoundError(
                f"there is no folder {app!r}; give the path of the agent's folder, or its"
                " name in --agents"
            )
        return app, agents
    folder = AppFolder.at(path)
    if folder.only is not None:
        return folder.only, path
    if path == Path(path.name) and path.name in AppFolder.at(agents).names():
        return path.name, agents
    names = folder.names()
    if not names:
        raise NotFoundError(
            f"there is no agent in {app!r}: it needs an agent.py that defines root_agent, or a"
            " root_agent.yaml"
        )
    raise BadRequestError(f"{app!r} is a folder of apps; name one of them: {', '.join(names)}")


def _served_app(client: Client, name: str, folder: Path | None) -> str:
    """Return the server's name for the app: longer if it is nested. Raises NotFoundError.

    `folder` is what our own server serves; None if somebody else started the server.
    """
    names = apps_of(client)
    if name in names:
        return name
    nested = [each for each in names if each.endswith(f".{name}")]
    if len(nested) == 1:
        return nested[0]
    listing = ", ".join(map(plain, names)) or "no apps"
    if folder is not None:
        raise NotFoundError(
            f"there is no app {name!r} in {str(folder)!r}, which has {listing}. Give the path of"
            " the agent's folder, or the folder of your apps with --agents"
        )
    raise NotFoundError(
        f"the server at {client.url} has no app {name!r}; it serves {listing}. Name one of them, or"
        " give the path of the agent's folder and another --data-dir to start a separate server"
    )


def _session(client: Client, app: str, options: ChatOptions) -> "SessionJson":
    """Return the session to use, a new one if needed. Raises BadRequestError, NotFoundError."""
    if options.resume is not None:
        if options.session_id is not None or options.replay is not None or options.state:
            raise BadRequestError(
                "--resume continues a session with its own state: omit --session-id, --replay,"
                " --state and --state-file"
            )
        file = Path(options.resume)
        if file.is_file():
            return import_session_file(client, file, app)
        return session_of(client, options.resume, app=app)
    if options.session_id is not None and options.replay is None:
        session = session_with_id(client, app, options.session_id)
        if session is not None:
            return session
    if options.replay is not None and options.state:
        raise BadRequestError("the --replay file sets the state: omit --state and --state-file")
    state = options.state if options.replay is None else read_script(options.replay).state
    return client.new_session(app, name=options.session_id, state=state)


@contextmanager
def _storage(server: ServerOptions, *, in_memory: bool) -> Iterator[ServerOptions]:
    """Yield the options, with a temporary data folder if the session is to be kept in memory."""
    if not in_memory:
        yield server
        return
    if server.url is not None:
        raise BadRequestError(
            "--in-memory can't be used with --url: that server keeps its sessions"
        )
    with TemporaryDirectory(prefix="devui-") as folder:
        yield replace(server, data_dir=Path(folder))
