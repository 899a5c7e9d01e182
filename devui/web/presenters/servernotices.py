"""What every page says of the server as a whole: its journal, and what it has refused."""

from collections.abc import Iterator, Sequence
from typing import Final

from devui.store.errors import JournalBusy, JournalError, JournalFailed, JournalFull, JournalGone
from devui.store.journal import Journal
from devui.store.place import Danger
from devui.web.parts.basics import Notice
from devui.web.security.refusals import NOT_SIGNED_IN, OLD_LINK, Refusals
from devui.web.services import Services
from devui.web.text.formats import duration
from devui.web.text.visible import visible

_DAY: Final = 86_400.0
_NO_NEWS: Final = frozenset({NOT_SIGNED_IN, OLD_LINK})
_TROUBLES: dict[type[JournalError], tuple[str, str]] = {
    JournalFull: ("The disk is full.", "there is room again"),
    JournalFailed: ("The journal cannot be written.", "disk and permissions let it"),
    JournalGone: (
        "The journal was moved or deleted.",
        "it is put back (a restart begins a new one)",
    ),
    JournalBusy: ("Another program has locked the journal.", "that lets go"),
}


def server_notices(found: Services) -> tuple[Notice, ...]:
    """The worst first; those that are no news any more can be put away."""
    past = (
        *aside_notices(found.journal),
        *danger_notices(found.journal, found.dangers),
        *clock_notices(found.clock.moves),
        *refusal_notices(found.refusals),
    )
    return (*trouble_notices(found.journal), *found.put_away.left(past))


def trouble_notices(journal: Journal) -> tuple[Notice, ...]:
    """That the journal takes nothing now (R41, R42)."""
    if journal.trouble is None:
        return ()
    title, until = _TROUBLES[type(journal.trouble)]
    text = (
        f"Nothing new is kept in {journal.path} until {until}, which is tried each second. "
        "Runs wait for that and then go on. What was committed before is whole and can be read."
    )
    return (Notice("bad", title, visible(text)),)


def aside_notices(journal: Journal) -> tuple[Notice, ...]:
    """That a damaged journal was set aside when the server began (R43)."""
    path = journal.set_aside
    if path is None:
        return ()
    text = (
        f"The damaged one is kept untouched as {path}; what is left in it can be read out "
        f'with: sqlite3 "{path}" .recover'
    )
    return (Notice("warn", "The journal was damaged, and a new one was begun.", visible(text)),)


def danger_notices(journal: Journal, dangers: Sequence[Danger]) -> Iterator[Notice]:
    """That the journal is where it may be damaged (R46)."""
    for danger in dangers:
        text = f"{danger.why} It is {journal.path}; devui takes another one with --data-dir."
        yield Notice("warn", f"The data folder {danger.what}.", visible(text))


def clock_notices(moves: Sequence[float]) -> tuple[Notice, ...]:
    """How the wall clock was moved, seconds each time (R47)."""
    if not moves:
        return ()
    times = "" if len(moves) == 1 else f", the last of {len(moves):,} times"
    way = "forward" if moves[-1] > 0 else "back"
    title = f"The clock was moved {way} by {_span(abs(moves[-1]))}{times}."
    text = (
        "Times on either side of that do not compare. The order of events, streams, limits and "
        "the sign-in do not depend on them."
    )
    return (Notice("warn", title, text),)


def refusal_notices(refusals: Refusals) -> tuple[Notice, ...]:
    """Who tried to get in (R09, R67).

    A browser that is not signed in is no news, nor is an old link: see `unsigned`.
    """
    reasons = sorted(refusals.reasons.items())
    told = [f"{_times(n)}: {reason}" for reason, n in reasons if reason not in _NO_NEWS]
    if refusals.programs:
        of = f" (of {visible(', '.join(sorted(refusals.apps)))})" if refusals.apps else ""
        told.insert(0, f"{_times(refusals.programs)}: a program that does not know the token{of}")
    if not told:
        return ()
    told[0] = told[0][0].upper() + told[0][1:]
    text = (
        f"{'; '.join(told)}. Nothing of it was done. It may be an agent or its tools, a page of "
        "another site, or a script of yours; the server's log has the paths (--log-level info)."
    )
    return (Notice("warn", "Requests were refused since the server began.", text),)


def unsigned(refusals: Refusals) -> str:
    """What the start page alone says, without alarm: who was asked to sign in (R67)."""
    told = []
    if refusals.browsers:
        often = _times(refusals.browsers)
        told.append(f"{often} a browser that was not signed in, as pages from before its start are")
    if links := refusals.reasons[OLD_LINK]:
        told.append(f"{_times(links)} {OLD_LINK}")
    return f"Refused since the server began: {'; '.join(told)}." if told else ""


def _span(seconds: float) -> str:
    days = round(seconds / _DAY)
    return f"{days:,} days" if days > 1 else duration(seconds)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
