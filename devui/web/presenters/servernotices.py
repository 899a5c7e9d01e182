"""What every page says of the server as a whole: its journal, and what it has refused."""

from devui.web.parts.basics import Notice
from devui.web.presenters.journalnotices import journal_notices
from devui.web.security.refusals import NOT_SIGNED_IN, Refusals
from devui.web.services import Services


def server_notices(found: Services) -> tuple[Notice, ...]:
    """The worst first."""
    return (*journal_notices(found.journal), *refusal_notices(found.refusals))


def refusal_notices(refusals: Refusals) -> tuple[Notice, ...]:
    """Who tried to get in (R09, R67).

    A browser that is not signed in is no news: it is a page from before the server was started.
    """
    told = [f"{_times(n)}: {reason}" for reason, n in sorted(refusals.reasons.items())]
    told = [each for each in told if not each.endswith(f": {NOT_SIGNED_IN}")]
    if refusals.programs:
        told.insert(0, f"{_times(refusals.programs)}: a program that does not know the token")
    if not told:
        return ()
    text = (
        f"{'; '.join(told)}. Nothing of it was done. It may be an agent or its tools, a page of "
        "another site, or a script of yours; the server's log has the paths (--log-level info)."
    )
    return (Notice("warn", "Requests were refused since the server began.", text),)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"
