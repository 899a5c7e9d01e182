"""`devui import`: imports sessions from files, folders and databases."""

import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final

import click

from devui.cli.follow import as_job
from devui.cli.output import plain
from devui.cli.server import ServerOptions, Terminal, agents_option, server_options, serving
from devui.debugger.adk_imports.bundle import bundle_lines
from devui.debugger.adk_imports.database import Database
from devui.debugger.adk_imports.discovery import Store, stores_at
from devui.debugger.adk_imports.sources import Choice, Head, Notes, Unreadable
from devui.debugger.adk_imports.sqlite import is_sqlite
from devui.failures import BadRequestError, ConflictError, DevuiError
from devui.web.text.formats import plural

_EXAMPLES = """\b
Examples:
  devui import trip.json                 import a file of `devui export` or `adk web`
  devui import agents --list             list the sessions `adk web` stored for these agents
  devui import agents/travel             import all sessions of one agent, with their artifacts
  devui import session.db --user ann     import the sessions of one user
  devui import session.db --continue     import sessions that can be continued
  devui import postgresql://me@host/adk  needs `pip install 'devui[databases]'`

Sources are never changed, and their code is never run. Imported sessions are read-only; fork them
to make changes, or import them with --continue. JSON exported by `adk web` can always be continued.
Sessions keep their ids. Existing ones are skipped; --as-copy imports them with new ids.
"""
_REMOTE: Final = "devui.debugger.adk_imports.remote"


@dataclass(frozen=True, slots=True)
class _ImportOptions:
    """How to import the sessions."""

    into: str | None
    writable: bool
    as_copy: bool

    def query(self, *, is_stored: bool) -> dict[str, str | None]:
        """Return the query for the server; stored sessions keep their ids unless copied."""
        ids = "new" if self.as_copy else "keep" if is_stored or self.writable else None
        return {"app": self.into, "ids": ids, "continue_": "yes" if self.writable else None}


@click.command("import", epilog=_EXAMPLES, short_help="Read sessions from files and databases.")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "--app", metavar="NAME", help="Only sessions of this app; for a file, the app to import into."
)
@click.option("--user", metavar="ID", help="Only sessions of this user.")
@click.option("--session", metavar="ID", help="Only the session with this id.")
@click.option("--into", metavar="NAME", help="Import into this app instead of the original one.")
@click.option("--list", "only_list", is_flag=True, help="List the sessions; import none.")
@click.option("--continue", "writable", is_flag=True, help="Make the imported sessions writable.")
@click.option("--as-copy", is_flag=True, help="Give the sessions new ids.")
@agents_option
@server_options
def command(
    server: ServerOptions,
    sources: Sequence[str],
    *,
    app: str | None,
    user: str | None,
    session: str | None,
    into: str | None,
    only_list: bool,
    writable: bool,
    as_copy: bool,
    agents: Path,
) -> None:
    """Import sessions from SOURCE: a file, a folder, or a database URL."""
    choice, options = Choice(app, user, session), _ImportOptions(into, writable, as_copy)
    with ExitStack() as stack:
        files: list[Path] = []
        stores: list[tuple[Store, list[Head]]] = []
        for source in sources:
            _sort(source, choice, stack, files, stores)
        if only_list:
            _list(server, files, stores)
            return
        if not files and not any(heads for _, heads in stores):
            raise DevuiError(
                "no sessions match; to see all of them, run with --list and without --app, --user"
                " and --session"
            )
        alone = server.alone
        with serving(server, agents, anew=True) as terminal:
            importer = _Importer(terminal, options, alone=alone)
            for file in files:
                importer.take_file(file, app)
            for store, heads in stores:
                importer.take(store, heads)
    importer.finish()


def _sort(
    source: str,
    choice: Choice,
    stack: ExitStack,
    files: list[Path],
    stores: list[tuple[Store, list[Head]]],
) -> None:
    """Add a source to the files that the server reads, or open the stores in it."""
    skipped: list[str] = []
    try:
        if "://" in source:
            new_stores = [_remote(source, stack)]
        elif not (path := Path(source)).exists():
            raise BadRequestError(f"there is no file or folder {source!r}")
        elif path.is_file() and not is_sqlite(path):
            files.append(path)
            return
        else:
            new_stores = stores_at(path, stack, skipped)
        stores.extend((store, _select(store, choice)) for store in new_stores)
    except Unreadable as error:
        raise DevuiError(str(error)) from error
    except OSError as error:
        raise BadRequestError(f"cannot read {source!r}: {error.strerror}") from error
    for line in skipped:
        click.echo(f"skipped {plain(line)}", err=True)


def _select(store: Store, choice: Choice) -> list[Head]:
    return [head for head in store.source.heads() if choice.includes(head)]


def _remote(address: str, stack: ExitStack) -> Store:
    if address.startswith("sqlite"):
        raise BadRequestError("give the path of a SQLite database, without sqlite://")
    try:
        module = import_module(_REMOTE)
    except ImportError as error:
        raise DevuiError(
            "reading a database by URL requires SQLAlchemy and a driver. Install them with"
            " `pip install 'devui[databases]'`"
        ) from error
    tables = module.RemoteTables(address)
    stack.callback(tables.close)
    return Store(Database(tables))


def _list(server: ServerOptions, files: list[Path], stores: list[tuple[Store, list[Head]]]) -> None:
    if server.as_json:
        for store, heads in stores:
            for head in heads:
                entry = {"source": store.source.place, **asdict(head)}
                click.echo(json.dumps(entry, ensure_ascii=False))
        return
    for file in files:
        click.echo(f"{plain(str(file))}: one session")
    for store, heads in stores:
        click.echo(f"{plain(store.source.place)}: {plural(len(heads), 'session')}")
        for head in heads:
            when = datetime.fromtimestamp(head.updated, UTC).strftime("%Y-%m-%d %H:%M")
            names = f"{plain(head.app)}  user {plain(head.user)}  {plain(head.id)}"
            click.echo(f"  {names}  {plural(head.events, 'event')}  {when} UTC")


class _Importer:
    """Sends sessions to a server, one by one, and prints the result of each."""

    def __init__(self, terminal: Terminal, options: _ImportOptions, *, alone: bool) -> None:
        self._terminal = terminal
        self._options = options
        self._alone = alone
        self._failed = 0
        self._imports = 0

    def take_file(self, path: Path, app: str | None) -> None:
        """Import a file that the server reads. Raises DevuiError."""
        query = self._options.query(is_stored=False)
        query["app"] = query["app"] or app
        try:
            with path.open("rb") as file:
                self._send(file, query, [])
        except OSError as error:
            raise BadRequestError(f"cannot read {str(path)!r}: {error.strerror}") from error
        except ConflictError as error:
            raise ConflictError(
                f"{str(path)!r}: the session already exists; use --as-copy to import it with a"
                " new id"
            ) from error

    def take(self, store: Store, heads: list[Head]) -> None:
        """Import sessions from a store; print those that are skipped or fail."""
        for head in heads:
            notes = Notes()
            place = f"{store.source.place}: session {head.id} of {head.app}"
            try:
                with tempfile.TemporaryFile() as file:
                    for line in bundle_lines(store.source, head, store.files, notes):
                        file.write(line.encode())
                    file.seek(0)
                    self._send(file, self._options.query(is_stored=True), list(notes.lines))
            except ConflictError:
                self._say_skipped(head, place)
            except (Unreadable, DevuiError) as error:
                self._failed += 1
                click.echo(f"{plain(place)} was not imported: {plain(_text(error))}", err=True)

    def finish(self) -> None:
        """Raise DevuiError if a session couldn't be imported."""
        if self._failed:
            raise DevuiError(f"{plural(self._failed, 'session')} could not be imported")

    def _send(self, file: IO[bytes], query: dict[str, Any], notes: list[str]) -> None:
        with as_job(self._terminal.client, "importing", import_count=self._imports) as client:
            session = client.import_session(file, **query)
        self._imports += 1
        url = None if self._alone else f"{client.url}/sessions/{session['key']}"
        result = {**session, "url": url, **({"notes": notes} if notes else {})}
        self._terminal.say(result, _lines)

    def _say_skipped(self, head: Head, place: str) -> None:
        skipped = {"skipped": "already here", "app": head.app, "user": head.user, "id": head.id}
        self._terminal.say(
            skipped, lambda _: [f"{plain(place)} already exists; use --as-copy to import it again"]
        )


def _lines(session: dict[str, Any]) -> list[str]:
    title = f" “{plain(session['title'])}”" if session["title"] else ""
    aside = session.get("unknownMembers")
    events = plural(session["events"], "event")
    line = (
        f"session {session['key']}{title} of {plain(session['app'])}, {events}"
        + (", read-only" if session.get("readOnly", True) else "")
        + (f", {plural(aside, 'unrecognized field')} stored" if aside else "")
    )
    notes = [f"  {plain(note)}" for note in session.get("notes", ())]
    return [line, *notes, *([session["url"]] if session["url"] else [])]


def _text(error: Exception) -> str:
    return error.message if isinstance(error, click.ClickException) else str(error)
