"""Notices that people have put away. One that says anything new is another one, and comes."""

from dataclasses import replace
from hashlib import sha256

from devui.web.parts.basics import Notice


class PutAway:
    """What has been seen, by all who use the server."""

    def __init__(self) -> None:
        self._seen: set[str] = set()

    def put(self, seen: str) -> None:
        """Put the notice away that is told by `seen`."""
        self._seen.add(seen)

    def left(self, notices: tuple[Notice, ...]) -> tuple[Notice, ...]:
        """Those that nobody has put away, each with what it takes to do so."""
        named = (replace(each, seen=_name(each)) for each in notices)
        return tuple(each for each in named if each.seen not in self._seen)


def _name(notice: Notice) -> str:
    return sha256(f"{notice.title}\n{notice.text}".encode()).hexdigest()[:16]
