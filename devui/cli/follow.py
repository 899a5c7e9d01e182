"""Follows activity on the server: a session's stream, and long jobs until they are done."""

import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from threading import Event, Thread
from typing import Any, Final

import click

from devui.cli.output import event_lines, output_lines, position_lines
from devui.cli.server import Terminal
from devui.client import Client
from devui.failures import LEFT, DevuiError, NotFoundError

_LINES: dict[str, Callable[[Any], list[str]]] = {
    "event": event_lines,
    "output": output_lines,
    "position": position_lines,
}


def follow(
    client: Client, session: int, after: int, run: str | None = None
) -> Iterator[Mapping[str, Any]]:
    """Yield everything that happens in a session after event `after`.

    If `run` is already over, this includes how it ended. Raises NotFoundError when the session is
    deleted, UnavailableError when the server stops.
    """
    for news in client.stream(session, after=after, run=run):
        if news["type"] == "deleted":
            raise NotFoundError(f"session {session} was deleted")
        yield news


def news_of(
    client: Client,
    session: int,
    after: int,
    *,
    run: str | None = None,
    as_json: bool = False,
) -> Iterator[Mapping[str, Any]]:
    """Yield the same, but unless `as_json`, skip positions that read like the previous one."""
    place: tuple[str, list[str]] | None = None
    for news in follow(client, session, after, run):
        if news["type"] == "position" and not as_json:
            before, place = place, (news["run"], position_lines(news))
            if place == before:
                continue
        yield news


def tell(terminal: Terminal, news: Mapping[str, Any]) -> None:
    """Print an item of news; kinds without a text format are printed only as JSON."""
    if terminal.as_json or news["type"] in _LINES:
        terminal.say(news, _LINES.get(news["type"], lambda _: []))


def newest_number(client: Client, session: int) -> int:
    """Return the number of the session's last event; 0 if it has none."""
    rows = client.events(session, last=1)
    return int(rows[-1]["number"]) if rows else 0


def say_after_interrupt(what: str) -> None:
    """Print a message after Ctrl-C, on a line of its own."""
    click.echo(f"\n{what}", err=True)


_UNSHOWN: Final = 0.4
"""How long to wait before showing progress, in seconds: most jobs take less."""
_AGAIN: Final = 0.3
_CLEAR: Final = "\r\x1b[K"


@contextmanager
def as_job(client: Client, action: str, *, import_count: int | None = None) -> Iterator[Client]:
    """Yield a client whose next request is a job, with its progress on stderr if that's a terminal.

    `action` is what the server does: `exporting`. `import_count` is how many sessions the command
    has imported so far; None if the job imports none. Ctrl-C stops the job, waits for it to end and
    exits the command. Raises DevuiError if somebody else stopped the job.
    """
    job, end = uuid.uuid4().hex, Event()
    line = Thread(target=_show, args=(client, job, action, end), daemon=True)
    if sys.stderr.isatty():
        line.start()
    try:
        yield replace(client, job=job)
    except KeyboardInterrupt:
        status = _stop_job(client, job)
        _end(line, end)
        click.echo(_outcome(status, import_count), err=True)
        sys.exit(LEFT)
    except DevuiError as error:
        if _is_stopped(client, job):
            raise DevuiError(f"{action} was stopped from elsewhere; nothing was kept") from error
        raise
    finally:
        _end(line, end)


def _stop_job(client: Client, job: str) -> str:
    """Stop a job and return its status once it has ended; "" if the server doesn't respond."""
    try:
        status = client.stop_job(job)["status"]
        while status in {"running", "stopping"}:  # it may be past the point where it can stop
            time.sleep(_AGAIN)
            status = client.job_status(job)["status"]
    except NotFoundError:  # it never started
        return "stopped"
    except DevuiError:
        return ""
    return status


def _outcome(status: str, import_count: int | None) -> str:
    """Describe the result of a job that Ctrl-C interrupted."""
    if not status:
        return "The server didn't confirm the stop. The work may still finish."
    if import_count is None:
        return "Stopped. Nothing was saved."
    count = import_count + (status == "done")
    verb = "session was" if count == 1 else "sessions were"
    begins = "The import had already finished" if status == "done" else "Stopped"
    return f"{begins}. {f'{count:,}' if count else 'No'} {verb} imported."


def _is_stopped(client: Client, job: str) -> bool:
    with suppress(DevuiError):
        return client.job_status(job)["status"] == "stopped"
    return False


def _end(line: Thread, end: Event) -> None:
    end.set()
    if line.is_alive():
        line.join()


def _show(client: Client, job: str, action: str, end: Event) -> None:
    is_shown, wait = False, _UNSHOWN
    while not end.wait(wait):
        wait = _AGAIN
        with suppress(DevuiError):
            state = client.job_status(job)
            if state["total"] and state["status"] == "running":
                percent = 100 * state["done"] // state["total"]
                click.echo(f"{_CLEAR}{action}: {percent} %  (Ctrl-C to stop)", err=True, nl=False)
                is_shown = True
    if is_shown:
        click.echo(_CLEAR, err=True, nl=False)
