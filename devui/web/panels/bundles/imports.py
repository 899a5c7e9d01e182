"""The imports: bundles, sessions as JSON of ADK's API, databases of google-adk."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from devui.debugger.adk_imports.bundle import bundle_lines
from devui.debugger.adk_imports.database import Database
from devui.debugger.adk_imports.sources import Head, Notes, Unreadable
from devui.debugger.adk_imports.sqlite import MAGIC, SqliteTables
from devui.debugger.apps.apps import UnknownApp
from devui.debugger.background.jobs import Job, JobStopped, Progress
from devui.debugger.bundles.checks import BadBundle
from devui.debugger.bundles.exchange import Exchange
from devui.debugger.bundles.importing import ImportOptions
from devui.store.errors import BadValue, SessionExists
from devui.store.rows import SessionRow
from devui.web.adk.bodies import SessionFile, parse
from devui.web.adk.sessions import SESSION_LIMIT, begin
from devui.web.errors import BadRequest, Unprocessable
from devui.web.security.intake import parse_json
from devui.web.services import Services

_HEAD = 1000
"""How many bytes at the start of a file are searched for a bundle's marker."""


@dataclass(slots=True)
class Arrivals:
    """The outcome of importing a file with several sessions."""

    new: list[SessionRow] = field(default_factory=list)
    present: list[SessionRow] = field(default_factory=list)
    """The sessions that already existed."""
    problems: list[str] = field(default_factory=list)
    """What couldn't be imported, and why."""


async def take_file(
    services: Services,
    file: IO[bytes],
    options: ImportOptions,
    progress: Progress,
    *,
    new_id: bool = False,
) -> SessionRow:
    """Import a session from a file, into its own app or the one in `options`.

    A bundle becomes a session that can be read and forked, unless `options` makes it writable. A
    session of ADK's API is always writable; it keeps its user, state and events, and also its id
    unless `new_id` is set. Raises Unprocessable, UnknownApp, SessionExists, BadValue, JobStopped.
    """
    try:
        row = await Exchange(services.journal, services.settings).take(
            file, options, progress, words_of=services.runs.words_of
        )
    except BadBundle as error:
        session = await asyncio.to_thread(_session_in, file)
        if session is None:
            raise Unprocessable(str(error)) from error
        row = await _begin(services, session, options.app, new_id=new_id)
    await services.know_credentials()
    return row


def is_database(file: IO[bytes]) -> bool:
    """Return whether the file is a SQLite database."""
    file.seek(0)
    begins = file.read(len(MAGIC)) == MAGIC
    file.seek(0)
    return begins


async def take_database(
    services: Services, file: IO[bytes], name: str, job: Job, *, options: ImportOptions
) -> Arrivals:
    """Import the sessions in a SQLite file of google-adk, each entirely or not at all.

    `name` is what the user calls the file. If the job is stopped, the sessions imported so far
    stay. Raises Unprocessable, and JobStopped if none was imported.
    """
    arrivals = Arrivals()
    with tempfile.NamedTemporaryFile(dir=services.journal.path) as copy:
        await asyncio.to_thread(shutil.copyfileobj, file, copy)
        copy.flush()
        try:
            tables = await asyncio.to_thread(SqliteTables, Path(copy.name), place=name)
            with closing(tables):
                database = await asyncio.to_thread(Database, tables)
                for head in await asyncio.to_thread(database.heads):
                    await _take_one(services, database, head, arrivals, job, options)
        except Unreadable as error:
            raise Unprocessable(str(error)) from error
        except JobStopped:
            if not arrivals.new:
                raise
            job.break_off(len(arrivals.new))
            arrivals.problems.append("The import was stopped. The remaining sessions are missing.")
    await services.know_credentials()
    return arrivals


async def _take_one(
    services: Services,
    database: Database,
    head: Head,
    arrivals: Arrivals,
    progress: Progress,
    options: ImportOptions,
) -> None:
    exchange, notes = Exchange(services.journal, services.settings), Notes()

    def write(file: IO[bytes]) -> None:
        for line in bundle_lines(database, head, None, notes):
            file.write(line.encode())

    try:
        if options.goes_on:
            services.apps.require(head.app)
        with tempfile.TemporaryFile(dir=services.journal.path) as file:
            await asyncio.to_thread(write, file)
            words_of = services.runs.words_of
            arrivals.new.append(await exchange.take(file, options, progress, words_of=words_of))
    except SessionExists as error:
        if row := await services.journal.sessions.get(error.key):
            arrivals.present.append(row)
    except (Unreadable, BadBundle, BadValue, UnknownApp, RecursionError, ValueError) as error:
        arrivals.problems.append(f"Session {head.id} wasn't imported: {error}")
    arrivals.problems.extend(notes.lines)


async def _begin(
    services: Services, session: Mapping[str, Any], app: str | None, *, new_id: bool
) -> SessionRow:
    file = parse(SessionFile, session)
    name = app or file.app_name
    services.apps.require(name)
    session_id = None if new_id else file.id
    return await begin(
        services, name, file.user_id, session_id, state=file.state, events=file.events
    )


def _session_in(file: IO[bytes]) -> Mapping[str, Any] | None:
    """Return the JSON of a session; None if the file is anything else."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size > SESSION_LIMIT:
        return None
    try:
        data = file.read()
        value = parse_json(data, allow_runtime_json=True)
    except BadRequest:
        return None
    except Unprocessable:
        if b'"format"' in data[:_HEAD]:  # a bundle, whose own error says more
            return None
        raise
    is_session = isinstance(value, dict) and "events" in value and "format" not in value
    return value if is_session and isinstance(value, dict) else None
