"""Keeps secrets out of every answer: pages, JSON, streams, texts, whatever their route (R64).

It works on what goes out, in the spelling of each format, so that no route can forget it. The
static files are ours and pass; so does an export that was asked for with its secrets.
"""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import chain, zip_longest
from typing import Final, NamedTuple

from starlette.types import Message, Scope, Send

from devui.debugger.apps.apps import AppFolder
from devui.debugger.questions.questions import CREDENTIAL
from devui.debugger.secrets.redaction import MARK, NOTHING, SHORTEST, Redactor, Secret, in_base64
from devui.debugger.secrets.values import credentials_in, secrets_about
from devui.store.values import responses_in
from devui.web.later import Later
from devui.web.security.headers import RawHeaders
from devui.web.security.intake import NAMES
from devui.web.security.standins import StandIns

SECONDS: Final = 600
"""For so long the pages of a browser show secrets, unless they are hidden before."""

_log = logging.getLogger(__name__)


class Reveals:
    """The browsers of one server, each known by the digest of its sign-in."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[bytes, float] = {}

    def seconds_left(self, browser: bytes | None) -> float:
        """Seconds for which a browser is still shown secrets; 0 for none."""
        end = self._ends.get(browser, 0.0) if browser is not None else 0.0
        return max(0.0, end - self._clock())

    def show(self, browser: bytes) -> None:
        """Show secrets on the pages of a browser from now on."""
        now = self._clock()
        self._ends = {each: end for each, end in self._ends.items() if end > now}
        self._ends[browser] = now + SECONDS
        _log.warning(
            "secrets are shown on the pages of a signed-in browser for %d minutes", SECONDS // 60
        )

    def hide(self, browser: bytes) -> None:
        """Hide them again."""
        if self._ends.pop(browser, None) is not None:
            _log.warning("secrets are hidden again on the pages of a signed-in browser")


UNTOUCHED: Final = b"x-devui-revealed"
"""A header of answers whose secrets somebody asked for; it does not go out."""

VIEW: Final = "devui.view"
"""In a request's scope: its `View`."""

CREDENTIALS_LIMIT: Final = 64
"""Credentials that people gave which are looked for; more would cost each answer more."""

_TEXTS: Final = (b"text/", b"application/json", b"application/octet-stream")
_PAGES: Final = (b"text/html", b"text/event-stream")
_ADDRESSES: Final = frozenset({b"location", b"hx-location", b"hx-redirect", b"hx-push-url"})
_WORD: Final = re.compile(r"[A-Za-z]{1,15}")
"""What may be a word of our own pages and answers, or of everybody."""
_INLINE: Final = re.compile(r"(</?(?:a|b|code|del|em|i|ins|mark|s|span|strong|wbr)\b[^<>]*>)")
"""Tags between which a word goes on, as in coloured code, emphasis and differences."""
_SMALL: Final = 65_536
"""Bytes of an answer up to which it is cleaned at once, which takes some milliseconds."""
_PIECE: Final = 262_144
"""Characters of a page that are searched at a time."""
_SECONDS: Final = 2.0
"""For so long a change of a `.env` file may go unnoticed."""
_ABOUT: Final = re.compile(r"(?:/api)?/(apps|sessions|runs)/([^/]+)")
"""The beginning of paths that are about one app."""
_FRESH: Final = 64
"""Apps whose secrets are remembered."""
_MOST: Final = 10_000
"""Sessions and runs whose apps are remembered."""
_STATE: Final = 'data-secrets=""'
"""In the first tag of a page; see `templates/base.html`."""

_is_ours: Final = Later("devui.web.security.ownwords").call("is_ours")

AppOf = Callable[[str, str], Awaitable[str | None]]
"""The app of the `sessions` or `runs` with a key; None if there is none."""


class _Look(NamedTuple):
    """What was secret when the files of an app, or of every app, were last read."""

    at: float
    credentials: int
    """How often somebody had given a credential by then."""
    secrets: list[Secret]
    redactor: Redactor


class Veil:
    """Knows the secrets of one folder of agents, and what people gave them, as they are now."""

    def __init__(self, folder: AppFolder, app_of: AppOf | None = None) -> None:
        self._folder = folder
        self._app_of = app_of
        self._apps: dict[tuple[str, str], str] = {}
        self._credentials: dict[str, Secret] = {}
        self._credential_count = 0
        self._looks: dict[str | None, _Look] = {}
        self.stand_ins = StandIns()
        self.reveals = Reveals()
        self.everybody = View(self)
        """What anybody may see of every app."""

    def hear(self, data: str) -> None:
        """Know the credentials in the JSON of an event of a user (docs/decisions/0014)."""
        if CREDENTIAL not in data:
            return
        for secret in credentials_in(responses_in(data, CREDENTIAL)):
            if len(secret.text) >= SHORTEST:
                self._credentials.pop(secret.text, None)
                self._credentials[secret.text] = secret
        for oldest in list(self._credentials)[:-CREDENTIALS_LIMIT]:
            del self._credentials[oldest]
        self._credential_count += 1

    async def meet(self, scope: Scope, browser: bytes | None) -> Scope:
        """A request as it was meant, if its address has come from here, with its `View`.

        Its body is yet to come. `browser` is the sign-in that it was made with.
        """
        scope = {**self.stand_ins.back(scope), NAMES: self.stand_ins.with_names}
        is_page = not scope["path"].startswith("/api/")
        view = View(self, await self._app(scope["path"]), browser if is_page else None)
        return {**scope, VIEW: view}

    async def _app(self, path: str) -> str | None:
        """The one app that a path is about; None if there may be several."""
        match = _ABOUT.match(path)
        if match is None:
            return None
        kind, name = match.groups()
        if kind == "apps":
            return name
        app = self._apps.get((kind, name))
        if app is None and self._app_of is not None:
            app = await self._app_of(kind, name)
            if app is not None:
                self._apps[kind, name] = app
                if len(self._apps) > _MOST:
                    del self._apps[next(iter(self._apps))]
        return app

    def redactor(self, app: str | None = None) -> Redactor:
        """What takes out the secrets of an app, or of all, as they are now."""
        look, now = self._looks.get(app), time.monotonic()
        if look is None or now - look.at > _SECONDS or look.credentials != self._credential_count:
            if len(self._looks) > _FRESH:
                self._looks = {}
            look = self._looks[app] = self._look(app, now, look)
        return look.redactor

    def _look(self, app: str | None, now: float, last: _Look | None) -> _Look:
        """Answers are cleaned in threads, too: so what others use meanwhile stays as it is."""
        count = self._credential_count
        every = [*secrets_about(self._folder, app), *self._credentials.values()]
        secrets = [
            each for each in every if not (_WORD.fullmatch(each.text) and _is_ours(each.text))
        ]
        if last is not None and secrets == last.secrets:
            return last._replace(at=now, credentials=count)
        encodings = [Secret(part, each.kind) for each in secrets for part in in_base64(each.text)]
        return _Look(now, count, secrets, Redactor([*secrets, *encodings]))


class View:
    """What one request may see: of an app, or of all, without secrets unless they are shown."""

    def __init__(self, veil: Veil, app: str | None = None, browser: bytes | None = None) -> None:
        """`browser` is that of a signed-in person who looks at a page."""
        self._veil = veil
        self._app = app
        self._browser = browser
        self._is_hiding = False
        """Whether something was taken out before the page was made."""

    @property
    def is_revealed(self) -> bool:
        """Whether the pages of this browser show secrets now."""
        return self._veil.reveals.seconds_left(self._browser) > 0

    def reveal(self, *, show: bool) -> bool:
        """Show secrets on this browser's pages, or hide them; False for who is no such browser."""
        if self._browser is None:
            return False
        if show:
            self._veil.reveals.show(self._browser)
        else:
            self._veil.reveals.hide(self._browser)
        return True

    def hiding(self) -> Redactor:
        """What takes out the secrets, whoever looks: for what is kept, sent or compared."""
        return self._veil.redactor(self._app)

    def redactor(self) -> Redactor:
        """What takes out the secrets that this reader is not shown."""
        return NOTHING if self.is_revealed else self.hiding()

    def page(self, text: str) -> str:
        """HTML as this reader may see it, whose addresses still lead to what they name."""
        clean = text if self.is_revealed else self._page(text)
        if not text.startswith("<!doctype html>"):
            return clean
        return clean.replace(_STATE, self._state(is_hiding=self._is_hiding or clean is not text), 1)

    def _page(self, text: str) -> str:
        redactor = self.hiding()
        parts = _split(text)
        everything = "\n".join(("".join(parts[::2]), *set(parts[1::2])))
        if redactor.text(everything) == everything:
            return text
        stand = self._veil.stand_ins.page
        parts = _split(redactor.text("".join(stand(each, redactor) for each in _pieces(text))))
        pairs = zip_longest(redactor.pieces(parts[::2]), parts[1::2], fillvalue="")
        return "".join(chain.from_iterable(pairs))  # also what lies across tags

    def _state(self, *, is_hiding: bool) -> str:
        """What a page says of its secrets to its style and its scripts."""
        if self._browser is None:
            return _STATE
        seconds = self._veil.reveals.seconds_left(self._browser)
        if seconds:
            return f'data-secrets="shown" data-secrets-left="{min(int(seconds) + 1, SECONDS)}"'
        return f'data-secrets="{"hidden" if is_hiding else "none"}"'

    def address(self, address: str) -> str:
        """An address without secrets that still leads to what it names."""
        return self._veil.stand_ins.address(address, self.redactor())

    def json(self, text: str) -> str:
        """JSON without secrets, whose names may still be sent back."""
        redactor = self.hiding()
        clean = redactor.text(text)
        if clean == text:
            return text
        return redactor.text(self._veil.stand_ins.json(text, redactor))

    def text(self, text: str) -> str:
        """The text without secrets, however they are spelled in it, whoever reads it."""
        return self.hiding().text(text)

    def data(self, data: bytes) -> bytes:
        """A file that is no text, without the secrets that are known by their value."""
        return self.hiding().data(data)

    def growing(self, text: str) -> str:
        """The text of an answer that is being streamed, as far as it can be told."""
        clean = self.redactor().growing(text)
        self._is_hiding |= MARK in clean and MARK not in text
        return clean

    def cover(self, send: Send) -> "Covered":
        """What an answer is sent through."""
        return Covered(self, send)


class Covered:
    """One answer on its way out; its beginning waits until its length is known."""

    def __init__(self, view: View, send: Send) -> None:
        self._view = view
        self._send = send
        self._start: Message | None = None
        self._through = False
        self._clean_text = view.text

    async def __call__(self, message: Message) -> None:
        """Send a message of ASGI."""
        if message["type"] == "http.response.start":
            headers: RawHeaders = [(k.lower(), v) for k, v in message.get("headers", ())]
            self._through = not _covers(headers)
            kind = _type(headers)
            if kind.startswith(_PAGES):
                self._clean_text = self._view.page
            elif kind.startswith(b"application/json"):
                self._clean_text = self._view.json
            pairs = [self._header(*pair) for pair in headers if pair[0] != UNTOUCHED]
            self._start = {**message, "headers": pairs}
            return
        body: bytes = message.get("body", b"")
        clean = await self._clean_body(body)
        if self._start is not None:
            start, self._start = self._start, None
            await self._send(_with_length(start, body, clean, more=message.get("more_body", False)))
        await self._send({**message, "body": clean})

    def _header(self, name: bytes, value: bytes) -> tuple[bytes, bytes]:
        if name not in _ADDRESSES:
            return name, value
        return name, self._view.address(value.decode("latin-1")).encode("latin-1")

    async def _clean_body(self, body: bytes) -> bytes:
        """The body as it goes out; one that takes a while is cleaned beside the event loop."""
        if self._through:
            return body
        if len(body) <= _SMALL:
            return self._clean(body)
        return await asyncio.to_thread(self._clean, body)

    def _clean(self, body: bytes) -> bytes:
        try:
            text = body.decode()
        except UnicodeDecodeError:
            return self._view.data(body)
        clean = self._clean_text(text)
        return body if clean == text else clean.encode()


def _pieces(page: str) -> Iterator[str]:
    """A page in pieces, each of which ends with a tag: nobody waits until all of it is searched."""
    start = 0
    while start < len(page):
        end = page.find(">", start + _PIECE) + 1 or len(page)
        yield page[start:end]
        start = end


def _split(page: str) -> list[str]:
    """Texts of a page, and between them in turns the tags that a word may go on across."""
    parts = [""]
    for piece in _pieces(page):
        first, *others = _INLINE.split(piece)
        parts[-1] += first
        parts += others
    return parts


def _covers(headers: RawHeaders) -> bool:
    names = dict(headers)
    if UNTOUCHED in names or b"content-encoding" in names:
        return False
    return _type(headers).startswith(_TEXTS)


def _type(headers: RawHeaders) -> bytes:
    return dict(headers).get(b"content-type", b"").lower()


def _with_length(start: Message, body: bytes, clean: bytes, *, more: bool) -> Message:
    """The beginning with a length that holds."""
    if len(clean) == len(body) and not more:
        return start
    headers = [pair for pair in start["headers"] if pair[0] != b"content-length" or not body]
    if not more:
        headers.append((b"content-length", str(len(clean)).encode()))
    return {**start, "headers": headers}
