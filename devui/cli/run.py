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
from devui.cli.server import Reach, agents_option, reaching, serving
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
    """What a file says that a user begins with, and says."""

    state: dict[str, Any]
    queries: list[str]


def read_script(file: Path) -> Script:
    """The messages of `{"state", "queries"}`, of a session's JSON, or of a bundle.

    The state is the one that the session began with. Raises BadRequestError.
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


def take_up(client: Client, file: Path, app: str) -> "SessionJson":
    """Make a session that goes on of a saved one. Raises BadRequestError."""
    content = _read(file)
    if content.get("format") != _BUNDLE:
        content["id"] = uuid.uuid4().hex  # the saved session may still be there under its own
    session = client.import_session(content, app=app)
    key = session["key"]
    if session.get("readOnly", True):
        key = client.fork(key, session["events"])["key"]
    return client.session(key)


def save(client: Client, session: Mapping[str, Any], folder: Path) -> Path:
    """Write the session's JSON, as `adk run --save_session` does. Raises DevuiError."""
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
    """The initial state that the options give. Raises BadRequestError."""
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
    """The texts of the user's messages."""
    messages = [event.get("content") or {} for event in events if event.get("author") == USER]
    parts = [
        [part["text"] for part in message.get("parts") or [] if "text" in part]
        for message in messages
    ]
    return ["\n".join(texts) for texts in parts if texts]


def _state_before(session: Mapping[str, Any]) -> dict[str, Any]:
    """The keys that no event of the session wrote."""
    written_keys: set[str] = set()
    for event in session["events"]:
        written_keys |= ((event.get("actions") or {}).get("stateDelta") or {}).keys()
    return {
        key: value for key, value in (session.get("state") or {}).items() if key not in written_keys
    }


_FAILED: Final = 1
_WAITS: Final = 2
"""The exit status when the agent waits for an answer and there is nobody to ask, as `adk run`'s."""
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
class Wish:
    """What to say, and in which session."""

    message: str | None
    session_id: str | None
    replay: Path | None
    resume: str | None
    state: dict[str, Any] | None


class Seconds(click.ParamType[float]):
    """`30s` or `5m`, in seconds."""

    name = "time"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """A number of seconds, with or without its unit."""
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
    reaching,
    json_option=click.option(
        "--jsonl", "--json", "as_json", is_flag=True, help="Print each event as a line of JSON."
    ),
)
def command(  # noqa: PLR0913  a parameter for each option
    reach: Reach,
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
    wish = Wish(_one_of(message, replay), session_id, replay, resume, read_state(state, state_file))
    own_name, folder = _app(app, agents)
    reach = replace(reach, data_dir=adk.data_dir or reach.data_dir)
    in_memory = in_memory or adk.in_memory
    alone = in_memory or reach.alone
    if not alone and (python or engine != "auto" or adk.environment):
        click.secho(_KEEPS, fg="yellow", err=True)
    options = ["--engine", engine, *(["--python", str(python)] if python else [])]
    try:
        with (
            _storage(reach, in_memory=in_memory) as storage,
            serving(storage, folder, anew=True, options=options) as terminal,
        ):
            client = terminal.client
            name = _served_app(client, own_name, folder if alone else None)
            chat = Chat(
                client=client,
                session=_session(client, name, wish),
                as_json=reach.as_json,
                seconds=timeout,
                shows_authors=wish.message is None and replay is None,
            )
            status = _talk(chat, wish, is_kept=not in_memory)
            if save_session:
                file = save(client, chat.session, AppFolder.at(folder).place(own_name))
                click.echo(f"saved as {file}", err=True)
    except KeyboardInterrupt:
        say_after_interrupt("left")
        sys.exit(LEFT)
    sys.exit(status)


def _talk(chat: Chat, wish: Wish, *, is_kept: bool) -> int:
    """Say what is to be said; the exit status. `is_kept` tells whether the session stays."""
    key, name = chat.session["key"], plain(str(chat.session["id"]))
    click.secho(f"session {key} ({name}) of {plain(chat.session['app'])}", dim=True, err=True)
    if wish.resume is not None:
        chat.show_past()
    try:
        if wish.replay is not None:
            end = _play(chat, read_script(wish.replay).queries)
        elif wish.message is not None:
            end = chat.say(wish.message)
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
    """Send messages until a run does not end as it should; how the last one ended."""
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
"""Options that say where a session is, and what it runs on."""


def _command() -> str:
    """The command that was called, with the options that lead to the same session."""
    context = click.get_current_context()
    words = ["devui", "run", str(context.params["app"])]
    options = {name: f"--{name.replace('_', '-')}" for name in _PLACES}
    options["adk_session_service_uri"] = "--session_service_uri"
    for name, option in options.items():
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            words += [option, str(context.params[name])]
    return shlex.join(words)


def _one_of(message: str | None, replay: Path | None) -> str | None:
    """The message, from the command line or from standard input; None for a chat or a replay."""
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
    """The name of the app that is meant, and the folder to serve.

    Raises BadRequestError, NotFoundError.
    """
    path = AppFolder.meant_by(Path(app))
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
    """The app as the server knows it: nested ones have a longer name there. Raises NotFoundError.

    `folder` is what a server of our own serves; None for one that somebody else started.
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


def _session(client: Client, app: str, wish: Wish) -> "SessionJson":
    """The session to talk in. Raises BadRequestError, NotFoundError."""
    if wish.resume is not None:
        if wish.session_id is not None or wish.replay is not None or wish.state:
            raise BadRequestError(
                "--resume continues a session with its own state: omit --session-id, --replay,"
                " --state and --state-file"
            )
        file = Path(wish.resume)
        if file.is_file():
            return take_up(client, file, app)
        return session_of(client, wish.resume, app=app)
    if wish.session_id is not None and wish.replay is None:
        session = session_with_id(client, app, wish.session_id)
        if session is not None:
            return session
    if wish.replay is not None and wish.state:
        raise BadRequestError("the --replay file sets the state: omit --state and --state-file")
    state = wish.state if wish.replay is None else read_script(wish.replay).state
    return client.new_session(app, name=wish.session_id, state=state)


@contextmanager
def _storage(reach: Reach, *, in_memory: bool) -> Iterator[Reach]:
    """Where the session is kept, for as long as the command runs."""
    if not in_memory:
        yield reach
        return
    if reach.url is not None:
        raise BadRequestError(
            "--in-memory can't be used with --url: that server keeps its sessions"
        )
    with TemporaryDirectory(prefix="devui-") as folder:
        yield replace(reach, data_dir=Path(folder))
