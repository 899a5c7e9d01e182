"""Redacts secrets in every response: pages, JSON, streams and texts of all routes (R64).

It works on the outgoing bytes, in the spelling of each format, so that no route can forget it.
Static files are ours and pass unchanged, as does an export that was requested with its secrets.
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
from devui.web.lazy_modules import LazyModule
from devui.web.security.headers import RawHeaders
from devui.web.security.intake import NAMES
from devui.web.security.pseudonyms import Pseudonyms

SECONDS: Final = 600
"""How long a browser's pages show secrets, in seconds, unless they are hidden earlier."""

_log = logging.getLogger(__name__)


class Reveals:
    """The browsers whose pages show secrets, each identified by the digest of its sign-in."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends: dict[bytes, float] = {}

    def seconds_left(self, browser: bytes | None) -> float:
        """Return how many more seconds a browser's pages show secrets; 0 if they are hidden."""
        end = self._ends.get(browser, 0.0) if browser is not None else 0.0
        return max(0.0, end - self._clock())

    def show(self, browser: bytes) -> None:
        """Show secrets on a browser's pages for the next `SECONDS`."""
        now = self._clock()
        self._ends = {each: end for each, end in self._ends.items() if end > now}
        self._ends[browser] = now + SECONDS
        _log.warning(
            "secrets are shown on the pages of a signed-in browser for %d minutes", SECONDS // 60
        )

    def hide(self, browser: bytes) -> None:
        """Hide secrets on a browser's pages again."""
        if self._ends.pop(browser, None) is not None:
            _log.warning("secrets are hidden again on the pages of a signed-in browser")


UNTOUCHED: Final = b"x-devui-revealed"
"""Marks a response whose secrets somebody asked for; the header itself isn't sent."""

VIEW: Final = "devui.view"
"""The key of the request's `View` in its scope."""

CREDENTIALS_LIMIT: Final = 64
"""How many credentials that people entered are redacted; each one slows down every response."""

_TEXTS: Final = (b"text/", b"application/json", b"application/octet-stream")
_PAGES: Final = (b"text/html", b"text/event-stream")
_ADDRESSES: Final = frozenset({b"location", b"hx-location", b"hx-redirect", b"hx-push-url"})
_WORD: Final = re.compile(r"[A-Za-z]{1,15}")
"""A text that may be a word of our own pages and responses, or a well-known default."""
_INLINE: Final = re.compile(r"(</?(?:a|b|code|del|em|i|ins|mark|s|span|strong|wbr)\b[^<>]*>)")
"""Tags that may occur within a word, as in highlighted code, emphasis and diffs."""
_SMALL: Final = 65_536
"""Responses of up to this many bytes are redacted on the event loop, in a few milliseconds."""
_PIECE: Final = 262_144
"""How many characters of a page are searched at a time."""
_SECONDS: Final = 2.0
"""How long a change of a `.env` file may go unnoticed."""
_ABOUT: Final = re.compile(r"(?:/api)?/(apps|sessions|runs)/([^/]+)")
"""The start of a path that is about one app."""
_FRESH: Final = 64
"""The number of apps whose secrets are cached."""
_MOST: Final = 10_000
"""The number of sessions and runs whose apps are cached."""
_STATE: Final = 'data-secrets=""'
"""The placeholder in the first tag of a page; see `templates/base.html`."""

_is_unredactable: Final = LazyModule("devui.web.security.unredactable_words").call(
    "is_unredactable"
)

AppOf = Callable[[str, str], Awaitable[str | None]]
"""Returns the app of a session or run, given `sessions` or `runs` and its key; None if unknown."""


class _AppSecrets(NamedTuple):
    """The secrets of one app, or of all, as of the last time the files were read."""

    at: float
    credentials: int
    """The number of credential events by then."""
    secrets: list[Secret]
    redactor: Redactor


class KnownSecrets:
    """The current secrets of a folder of agents, and the credentials that people entered."""

    def __init__(self, folder: AppFolder, app_of: AppOf | None = None) -> None:
        self._folder = folder
        self._app_of = app_of
        self._apps: dict[tuple[str, str], str] = {}
        self._credentials: dict[str, Secret] = {}
        self._credential_count = 0
        self._secrets: dict[str | None, _AppSecrets] = {}
        self.pseudonyms = Pseudonyms()
        self.reveals = Reveals()
        self.for_everybody = View(self)
        """The view of all apps, with every secret redacted."""

    def remember(self, data: str) -> None:
        """Remember the credentials in the JSON of a user's event (docs/decisions/0014)."""
        if CREDENTIAL not in data:
            return
        for secret in credentials_in(responses_in(data, CREDENTIAL)):
            if len(secret.text) >= SHORTEST:
                self._credentials.pop(secret.text, None)
                self._credentials[secret.text] = secret
        for oldest in list(self._credentials)[:-CREDENTIALS_LIMIT]:
            del self._credentials[oldest]
        self._credential_count += 1

    async def with_view(self, scope: Scope, browser: bytes | None) -> Scope:
        """Return the request with its pseudonyms replaced by names, and with its `View`.

        Its body is still to be read. `browser` is the sign-in that it was made with.
        """
        scope = {**self.pseudonyms.back(scope), NAMES: self.pseudonyms.with_names}
        is_page = not scope["path"].startswith("/api/")
        view = View(self, await self._app(scope["path"]), browser if is_page else None)
        return {**scope, VIEW: view}

    async def _app(self, path: str) -> str | None:
        """Return the app that a path is about; None if it may be about several."""
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
        """Return a redactor for the current secrets of an app, or of all apps."""
        app_secrets, now = self._secrets.get(app), time.monotonic()
        if (
            app_secrets is None
            or now - app_secrets.at > _SECONDS
            or app_secrets.credentials != self._credential_count
        ):
            if len(self._secrets) > _FRESH:
                self._secrets = {}
            app_secrets = self._secrets[app] = self._read(app, now, app_secrets)
        return app_secrets.redactor

    def _read(self, app: str | None, now: float, last: _AppSecrets | None) -> _AppSecrets:
        """Read the secrets again.

        Responses are redacted in threads, too, so redactors in use are replaced, never changed.
        """
        count = self._credential_count
        every = [*secrets_about(self._folder, app), *self._credentials.values()]
        secrets = [
            each
            for each in every
            if not (_WORD.fullmatch(each.text) and _is_unredactable(each.text))
        ]
        if last is not None and secrets == last.secrets:
            return last._replace(at=now, credentials=count)
        encodings = [Secret(part, each.kind) for each in secrets for part in in_base64(each.text)]
        return _AppSecrets(now, count, secrets, Redactor([*secrets, *encodings]))


class View:
    """What one request may see of an app, or of all: no secrets, unless its browser shows them."""

    def __init__(
        self, known_secrets: KnownSecrets, app: str | None = None, browser: bytes | None = None
    ) -> None:
        """`browser` is the sign-in of a person who looks at a page."""
        self._known_secrets = known_secrets
        self._app = app
        self._browser = browser
        self._is_hiding = False
        """Whether something was redacted before the page was rendered."""

    @property
    def is_revealed(self) -> bool:
        """Whether the pages of this browser currently show secrets."""
        return self._known_secrets.reveals.seconds_left(self._browser) > 0

    def reveal(self, *, show: bool) -> bool:
        """Show or hide secrets on this browser's pages; return False if it isn't signed in."""
        if self._browser is None:
            return False
        if show:
            self._known_secrets.reveals.show(self._browser)
        else:
            self._known_secrets.reveals.hide(self._browser)
        return True

    def hiding(self) -> Redactor:
        """Return the redactor for all readers: for text that is stored, sent or compared."""
        return self._known_secrets.redactor(self._app)

    def redactor(self) -> Redactor:
        """Return the redactor for this reader, which does nothing if secrets are shown."""
        return NOTHING if self.is_revealed else self.hiding()

    def page(self, text: str) -> str:
        """Redact HTML for this reader, with addresses that still work."""
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
        replace_in = self._known_secrets.pseudonyms.page
        parts = _split(redactor.text("".join(replace_in(each, redactor) for each in _pieces(text))))
        pairs = zip_longest(redactor.pieces(parts[::2]), parts[1::2], fillvalue="")
        return "".join(chain.from_iterable(pairs))  # redacts secrets that span tags, too

    def _state(self, *, is_hiding: bool) -> str:
        """Return the attributes that tell a page's styles and scripts whether secrets are shown."""
        if self._browser is None:
            return _STATE
        seconds = self._known_secrets.reveals.seconds_left(self._browser)
        if seconds:
            return f'data-secrets="shown" data-secrets-left="{min(int(seconds) + 1, SECONDS)}"'
        return f'data-secrets="{"hidden" if is_hiding else "none"}"'

    def address(self, address: str) -> str:
        """Redact an address so that it still works."""
        return self._known_secrets.pseudonyms.address(address, self.redactor())

    def json(self, text: str) -> str:
        """Redact JSON so that its names still work when they are sent back."""
        redactor = self.hiding()
        clean = redactor.text(text)
        if clean == text:
            return text
        return redactor.text(self._known_secrets.pseudonyms.json(text, redactor))

    def text(self, text: str) -> str:
        """Redact a text for all readers, whatever the spelling of the secrets in it."""
        return self.hiding().text(text)

    def data(self, data: bytes) -> bytes:
        """Redact a binary file, but only secrets that are known by their value."""
        return self.hiding().data(data)

    def growing(self, text: str) -> str:
        """Redact a streamed text, leaving out an end that may yet become a secret."""
        clean = self.redactor().growing(text)
        self._is_hiding |= MARK in clean and MARK not in text
        return clean

    def redacting(self, send: Send) -> "RedactedResponse":
        """Return a `send` that redacts the response."""
        return RedactedResponse(self, send)


class RedactedResponse:
    """Redacts and sends one response; its start is delayed until the length is known."""

    def __init__(self, view: View, send: Send) -> None:
        self._view = view
        self._send = send
        self._start: Message | None = None
        self._through = False
        self._clean_text = view.text

    async def __call__(self, message: Message) -> None:
        """Send an ASGI message."""
        if message["type"] == "http.response.start":
            headers: RawHeaders = [(k.lower(), v) for k, v in message.get("headers", ())]
            self._through = not _is_redacted(headers)
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
        """Redact a body; a large one is redacted in a thread, off the event loop."""
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
    """Split a page into pieces that end with a tag, to search them one at a time."""
    start = 0
    while start < len(page):
        end = page.find(">", start + _PIECE) + 1 or len(page)
        yield page[start:end]
        start = end


def _split(page: str) -> list[str]:
    """Split a page into texts, alternating with the tags that may occur within a word."""
    parts = [""]
    for piece in _pieces(page):
        first, *others = _INLINE.split(piece)
        parts[-1] += first
        parts += others
    return parts


def _is_redacted(headers: RawHeaders) -> bool:
    names = dict(headers)
    if UNTOUCHED in names or b"content-encoding" in names:
        return False
    return _type(headers).startswith(_TEXTS)


def _type(headers: RawHeaders) -> bytes:
    return dict(headers).get(b"content-type", b"").lower()


def _with_length(start: Message, body: bytes, clean: bytes, *, more: bool) -> Message:
    """Return the start of a response with the right content length."""
    if len(clean) == len(body) and not more:
        return start
    headers = [pair for pair in start["headers"] if pair[0] != b"content-length" or not body]
    if not more:
        headers.append((b"content-length", str(len(clean)).encode()))
    return {**start, "headers": headers}
