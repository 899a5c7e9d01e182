"""Everyday work in the page: open, scroll, select, send, choose a session.

usage: python -m benchmarks.day [--adk-python PATH] [--events 10000] [--sessions 500] [--rows 1000]
                                [--runs 5] [--keys 30] [--sends 15]

Measured in headless Chromium, from the event in the browser to the frame that shows its effect.
With --adk-python, the page of google-adk's `adk web` is measured instead, with its sessions in a
SQLite file; a figure is left out if its page takes more than three minutes.
"""

import argparse
import asyncio
import contextlib
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from playwright.sync_api import Browser, Page

from benchmarks.browser import chromium, frames, moment, opened
from benchmarks.events import TURN
from benchmarks.long_session import store
from benchmarks.report import Figures, report
from benchmarks.rest import Client
from benchmarks.served import ROOT, data_folder, serve, serve_adk
from benchmarks.workload import QUESTION
from devui.store.journal import Journal
from devui.web.panels.apps.session_list import PAGE

T = TypeVar("T")

LONG, MANY, STREAMS = "text", "tool1", "stream50"
"""The apps with the long session, with many sessions, and with the session that gets messages."""
ROW = 37.5
"""Pixels per row in devui's timeline, including its share of the invocation's header."""
NOTCH = 100
"""Pixels per notch of the wheel."""
PAUSE = 0.02
"""Seconds between two notches of the wheel."""
SLOW = 10_000
"""Milliseconds above which a page is opened only once, not several times for a median."""
LONGEST = 60
"""Seconds after which an action isn't repeated; the median is of the times so far."""


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """The parts of a page that are measured: addresses, selectors and JavaScript expressions."""

    long: str
    """The address of the long session."""
    last: str
    """The expression for its last event, once it is on the screen."""
    scroller: str
    """The selector of the box that scrolls through its events."""
    row: str
    """The selector of an event somewhat before the last."""
    next_key: str
    """The key that moves to the next event."""
    previous_key: str
    """The key that moves to the previous event."""
    marked: str
    """The expression for the event that the key has moved to."""
    selected: str
    """The expression for the event whose details are shown."""
    chat: str
    """The address of a new session."""
    field: str
    """The selector of its message field."""
    ready: str
    """The selector of an element that exists while a message can be sent."""
    answer: str
    """The expression for its last message."""
    sessions: str
    """The address of the app with many sessions, or of one of these sessions."""
    listed: str
    """The expression for the last session of the list, or of the list's first page."""
    opener: str | None = None
    """The selector of the button that opens the list; None if the address opens it."""
    streaming: tuple[str, ...] = ()
    """The selectors to click to have answers streamed; empty if they are anyway."""


@contextlib.contextmanager
def devui(options: argparse.Namespace) -> Iterator[FrontEnd]:
    """Serve devui's page."""
    with data_folder() as data:
        key = asyncio.run(seed(data, options.events, options.sessions))
        with serve(data) as served:
            client = Client(served.url, STREAMS)
            chat = client.key_of(client.new_session())
            client.close()
            yield FrontEnd(
                long=f"{served.url}/sessions/{key}",
                last=f"seen(document.querySelector('#e-{options.events}'))",
                scroller="#timeline .scroller",
                row=f"#e-{options.events - options.keys - 1}",
                next_key="j",
                previous_key="k",
                marked="document.querySelector('#rows > .row:has(.seq a:focus-visible)')",
                selected="document.querySelector('#rows > .row[aria-selected=true]')",
                chat=f"{served.url}/sessions/{chat}",
                field="#composer-text",
                ready="#send:enabled",
                answer="document.querySelector('#live-chat .msg.live .prose') ?? "
                "[...document.querySelectorAll('#messages > .msg')].at(-1)",
                sessions=f"{served.url}/apps/{MANY}",
                listed="document.querySelector("
                f"'.sessions .session:nth-child({min(options.sessions, PAGE)})')",
            )


async def seed(data: Path, events: int, sessions: int) -> int:
    """Store the long session and those of the app with many; return the key of the long one."""
    async with await Journal.open(data) as journal:
        for number in range(sessions):
            await store(journal, MANY, f"session-{number:03}", TURN)
        return await store(journal, LONG, "long", events)


@contextlib.contextmanager
def adk_web(options: argparse.Namespace) -> Iterator[FrontEnd]:
    """Serve the page of `adk web`."""
    python = str(Path(options.adk_python).absolute())
    with data_folder() as data:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(data)}
        sizes = ["--events", str(options.events), "--sessions", str(options.sessions)]
        for command in (
            ["benchmarks.adk_sessions", str(data / "sessions.db"), *sizes],
            ["google.adk.cli", "telemetry", "disable"],  # otherwise a dialog asks about it
        ):
            subprocess.run([python, "-W", "ignore", "-m", *command], env=environment, check=True)
        with serve_adk(data, python, command="web", store="sqlite") as served:
            page = f"{served.url}/dev-ui/?userId=u&app="
            yield FrontEnd(
                long=f"{page}{LONG}&session=long",
                last=f"seen(document.getElementsByTagName('app-event-row')[{options.events - 1}])",
                scroller="app-chat-panel .chat-messages",
                row=f"app-event-row >> nth={options.events - options.keys - 2}",
                next_key="ArrowDown",
                previous_key="ArrowUp",
                marked="document.querySelector('app-event-row.selected')",
                selected="document.querySelector('app-event-row.selected')",
                chat=f"{page}{STREAMS}",
                field="app-chat-panel textarea",
                ready="app-chat-panel textarea:enabled",
                answer="[...document.querySelectorAll('app-event-row')].at(-1)",
                sessions=f"{page}{MANY}&session=session-000",
                listed="document.querySelectorAll('app-session-tab .session-item')"
                f"[{options.sessions - 1}]",
                opener=".toolbar-session-group .selector-button",
                streaming=("[aria-label='More options']", "role=menuitem[name='Streaming']"),
            )


def opening(browser: Browser, address: str, until: str, runs: int) -> float | None:
    """Return the median milliseconds to open a page, without the first time.

    A page that is slower than `SLOW` is opened once. None if it isn't shown within `PATIENCE`.
    """
    walls = []
    for _ in range(runs + 1):
        with opened(browser, address, until=until) as (_page, milliseconds):
            if milliseconds is None or milliseconds > SLOW:
                return milliseconds
            walls.append(milliseconds)
    return statistics.median(walls[1:])


def wheel(page: Page, front: FrontEnd, rows: int) -> float:
    """Return the 99th percentile of the milliseconds between frames while the wheel turns up."""
    position = f"document.querySelector('{front.scroller}').scrollTop"
    before = page.evaluate(position)
    page.hover(front.scroller, position={"x": 200, "y": 200})

    def turn() -> None:
        page.mouse.wheel(0, -NOTCH)
        time.sleep(max(0.0, PAUSE - time.perf_counter() % PAUSE))

    between = frames(page, lambda: several(turn, round(rows * ROW / NOTCH)))
    if not page.evaluate(position) < before:
        raise RuntimeError(f"the wheel did not scroll {front.scroller}")
    return statistics.quantiles(between, n=100, method="inclusive")[98]


def keys(page: Page, front: FrontEnd, presses: int) -> tuple[float | None, float | None]:
    """Return the median milliseconds until a key marks an event, and until one selects an event."""
    page.click(front.row)
    page.wait_for_function(f"() => {front.selected}")

    def press(key: str, until: str) -> float | None:
        wall = moment(page, "keydown", lambda: page.keyboard.press(key), until=until)
        page.wait_for_timeout(300)  # for the details to load
        return wall

    mark_times = several(lambda: press(front.next_key, front.marked), presses)
    select_times = several(lambda: press(front.previous_key, front.selected), len(mark_times))
    return median(mark_times), median(select_times)


def send(page: Page, front: FrontEnd, messages: int) -> float | None:
    """Return the median milliseconds until a streamed answer's first words are on the screen."""
    for button in front.streaming:
        page.click(button)
    page.keyboard.press("Escape")

    def say() -> float | None:
        page.fill(front.field, QUESTION)
        first = f"seen([{front.answer}].find((each) => each?.textContent.includes('word000')))"
        wall = moment(page, "keydown", lambda: page.press(front.field, "Enter"), until=first)
        page.wait_for_function(f"() => ({front.answer})?.textContent.includes('word049')")
        page.wait_for_selector(front.ready)
        page.wait_for_timeout(300)  # for the page to finish the turn
        return wall

    say()  # starts the worker
    return median(several(say, messages))


def choose(browser: Browser, front: FrontEnd, runs: int) -> float | None:
    """Return the median milliseconds until a list of sessions is filled."""
    if not front.opener:
        return opening(browser, front.sessions, front.listed, runs)
    opener, walls = front.opener, []
    for _ in range(runs):
        with opened(browser, front.sessions, until="document.body") as (page, _time):
            page.wait_for_selector(opener)
            page.wait_for_load_state("networkidle")
            walls.append(moment(page, "click", lambda: page.click(opener), until=front.listed))
    return median(walls)


def several(act: Callable[[], T], times: int) -> list[T]:
    """Return the results of calling `act` `times` times, or fewer if that takes `LONGEST`."""
    done = [act()]
    until = time.monotonic() + LONGEST
    while len(done) < times and time.monotonic() < until:
        done.append(act())
    return done


def median(walls: list[float | None]) -> float | None:
    """Return the median, or None if one of the times is."""
    return None if None in walls else statistics.median(wall for wall in walls if wall is not None)


def measure(browser: Browser, front: FrontEnd, options: argparse.Namespace) -> Figures:
    walls: dict[str, float | None] = {}
    # The long session comes last: a server may still be busy with it when its page is closed.
    with opened(browser, front.chat, until=f"document.querySelector('{front.ready}')") as (page, _):
        walls["day.send_ms"] = send(page, front, options.sends)
    walls[f"day.sessions{options.sessions}_ms"] = choose(browser, front, options.runs)
    milliseconds = opening(browser, front.long, front.last, options.runs)
    walls[f"day.open{options.events}_ms"] = milliseconds
    if milliseconds:
        with opened(browser, front.long, until=front.last) as (page, _):
            walls["day.wheel_p99_ms"] = wheel(page, front, options.rows)
        with opened(browser, front.long, until=front.last) as (page, _):
            walls["day.key_ms"], walls["day.select_ms"] = keys(page, front, options.keys)
    return {name: wall for name, wall in walls.items() if wall is not None}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adk-python", help="an interpreter that has google-adk")
    for name, count, meaning in (
        ("events", 10_000, "events of the long session"),
        ("sessions", 500, "sessions of the app with many"),
        ("rows", 1000, "rows to scroll through"),
        ("runs", 5, "times that a page is opened"),
        ("keys", 30, "presses of each key"),
        ("sends", 15, "messages"),
    ):
        parser.add_argument(f"--{name}", type=int, default=count, help=meaning)
    options = parser.parse_args()
    served = adk_web(options) if options.adk_python else devui(options)
    with served as front, chromium() as browser:
        report(measure(browser, front, options))


if __name__ == "__main__":
    main()
