"""Search over all sessions: the models of its page."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.basic_parts import Moment, Tag, Theme

Pieces = tuple[tuple[str, bool], ...]
"""A text in pieces, each with whether it is what was searched for."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One matching event."""

    number: int
    href: str
    kind: str
    word: str
    """Its kind, as the timeline calls it."""
    author: str
    at: Moment
    pieces: Pieces


@dataclass(frozen=True, slots=True)
class SearchedSession:
    """A session with its newest matches."""

    template: ClassVar[str] = "search/session.html"
    number: int
    title: str
    forked: str
    """Where it was forked; "" if it wasn't."""
    href: str
    app: str
    user: str
    updated: Moment
    hits: tuple[SearchHit, ...]
    all_href: str
    """Its timeline with the same filter; "" if all matches are listed here."""
    tags: tuple[Tag, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedSession:
    """A session whose title or tags match."""

    number: int
    title: str
    forked: str
    href: str
    app: str
    updated: Moment
    tags: tuple[Tag, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchPage:
    template: ClassVar[str] = "pages/search.html"
    theme: Theme
    text: str
    error: str
    """Why the text isn't a valid filter; "" if it is."""
    named_sessions: tuple[NamedSession, ...]
    """Sessions with the text in their titles, or all with the tags if there is no other term."""
    sessions: tuple[SearchedSession, ...]
    total: str
    """The number of matches found so far, in words."""
    older_href: str
    """The next page of results; "" on the last one."""
    is_older: bool
    """Whether it isn't the first page."""
    again_href: str
    """This page."""
    percent: int
    """The percentage of the journal that is indexed."""
    has_words: bool = False
    """Whether a text was searched for, not only facts."""
    named_title: str = "Sessions by title"
    """The heading of these sessions."""
