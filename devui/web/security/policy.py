"""Decides what to do with a request, purely from its first line and headers (R02 to R07).

The order of the checks matters: first whether the request is meant for this server (Host), then
whether a foreign page made it (Sec-Fetch-Site, Origin), then whether the sender is signed in
(token, cookie), then whether a change arrives in a form that no foreign page can send. No header
that a page could choose, and nothing derived from the request, affects the decision.

    Sec-Fetch-Site             top-level GET       anything else
    ----------------------     ---------------     -------------
    absent (not a browser)     continue            continue
    same-origin                continue            continue
    none (typed, bookmark)     continue            403
    same-site, cross-site      neutral page        403
    anything else              403                 403

Same-site is as foreign as cross-site: other ports of localhost are same-site, and browsers send
them our cookie in spite of SameSite=Strict. A link from a foreign page gets a neutral page that
reloads itself as same-origin, so that no request from another site ever reaches a view.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from starlette.types import Scope

from devui.web.security.access import Access
from devui.web.security.headers import HeaderError, RawHeaders, single
from devui.web.security.hosts import Authority, Hosts, Origins

SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})

_JSON: Final = b"application/json"
_PROTOBUF: Final = b"application/x-protobuf"
_FORM: Final = b"application/x-www-form-urlencoded"
_FILES: Final = b"multipart/form-data"
_ONCE: Final = (
    *(b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest"),
    *(b"content-type", b"content-length", b"authorization", b"hx-request"),
)


class Verdict(Enum):
    """How to handle a request that is not refused."""

    PASS = "pass"  # noqa: S105
    """Pass it on to the application."""
    ARRIVE = "arrive"
    """It follows a link on another site: send a neutral page that reloads itself."""
    PREFLIGHT = "preflight"
    """It is the CORS preflight of a page of an allowed origin: allow it."""
    SIGN_IN = "sign in"
    """Nobody is signed in: respond with 401, and with the sign-in page if it accepts HTML."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused request."""

    status: int
    reason: str
    """A fixed text, with nothing from the request in it."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one server."""

    hosts: Hosts
    access: Access | None
    """None for no authentication, which `check_bind` allows only on loopback addresses."""
    port: int
    """Part of the cookie's name, since all ports of a host share the cookie jar."""
    origins: Origins = field(default_factory=Origins)
    """Other origins whose pages may call with the token; the cookie works only for our own."""
    open_paths: frozenset[str] = field(default=frozenset({"/login", "/health", "/llms.txt"}))
    """Paths that need no credentials; everything else does (R07)."""
    open_prefix: str = "/static/"
    """The path of devui's own files, including the stylesheet of the sign-in page."""

    @property
    def cookie(self) -> str:
        """The name of the sign-in cookie."""
        return f"devui-{self.port}"

    def judge(self, scope: Scope) -> Verdict | Refusal:
        """Decide what to do with an HTTP request; never raises."""
        headers: RawHeaders = scope["headers"]
        try:
            single_headers = {name: single(headers, name) for name in _ONCE}
            refusal = self._misdirected(scope, single_headers) or self._foreign(single_headers)
        except HeaderError as error:
            return Refusal(400, str(error))
        if refusal is not None:
            return refusal
        caller = self.caller(headers)
        if caller and scope["method"] == "OPTIONS":
            return Verdict.PREFLIGHT
        foreign = None if caller else self._from_other_site(scope["method"], single_headers)
        if foreign is not None:
            return foreign
        if not self._is_open(scope["path"]) and not self.signed_in(scope):
            return Verdict.SIGN_IN
        return self._unproven(scope["method"], single_headers, ours=caller is None) or Verdict.PASS

    def signed_in(self, scope: Scope) -> bool:
        """Return whether the request carries a valid token or a signed-in browser's cookie."""
        if self.access is None:
            return True
        headers: RawHeaders = scope["headers"]
        token = _bearer(headers)
        if token is not None and self.access.admits_bearer(token):
            return True
        if self.caller(headers):
            return False
        return self.access.admits_cookie(_cookies(headers, self.cookie))

    def caller(self, headers: RawHeaders) -> bytes | None:
        """Return the allowed other origin whose page makes the request; None for other requests.

        Behind a proxy, our own pages have such an origin, but browsers send `same-origin`.
        """
        by_name = dict(headers)
        origin = by_name.get(b"origin")
        if origin is None or origin in self.hosts.origins or not self.origins.allow(origin):
            return None
        return None if by_name.get(b"sec-fetch-site") == b"same-origin" else origin

    def browser(self, scope: Scope) -> bytes | None:
        """Return the signed-in browser that sent the request from our own pages, if any."""
        if self.access is None or self.caller(scope["headers"]):
            return None
        return self.access.browser(_cookies(scope["headers"], self.cookie))

    def _misdirected(self, scope: Scope, headers: dict[bytes, bytes | None]) -> Refusal | None:
        if not scope["path"].startswith("/") or not scope.get("raw_path", b"/").startswith(b"/"):
            return Refusal(400, "the request target must be a path")
        host = headers[b"host"]
        if host is None:
            raise HeaderError("missing Host header")
        if Authority.parse(host) not in self.hosts.authorities | self.origins.authorities:
            return Refusal(403, "Forbidden: host not allowed")
        return None

    def _foreign(self, headers: dict[bytes, bytes | None]) -> Refusal | None:
        origin = headers[b"origin"]
        is_allowed = origin is None or origin in self.hosts.origins
        if not is_allowed and not self.origins.allow(origin or b""):
            return Refusal(403, "Forbidden: origin not allowed")
        return None

    def _from_other_site(
        self, method: str, headers: dict[bytes, bytes | None]
    ) -> Verdict | Refusal | None:
        site = headers[b"sec-fetch-site"]
        if site is None or site == b"same-origin":
            return None
        if _navigates(method, headers):
            if site == b"none":
                return None
            if site in {b"same-site", b"cross-site"}:
                return Verdict.ARRIVE
        return Refusal(403, "Forbidden: request from another site")

    def _is_open(self, path: str) -> bool:
        return path in self.open_paths or path.startswith(self.open_prefix)

    def _unproven(
        self, method: str, headers: dict[bytes, bytes | None], *, ours: bool
    ) -> Refusal | None:
        """Refuse a change that a foreign page could send, or whose media type isn't accepted."""
        if method in SAFE_METHODS:
            return None
        has_origin = headers[b"sec-fetch-site"] == b"same-origin" or headers[b"origin"] is not None
        same_origin = ours and has_origin
        media = _media(headers[b"content-type"])
        if media is None and headers[b"content-length"] in {None, b"0"}:
            proven = True  # forms always send a content type, and an empty body is unambiguous
        elif media in {_FORM, _FILES}:
            proven = same_origin or headers[b"hx-request"] == b"true"
        else:
            proven = media in {_JSON, _PROTOBUF}  # forms can send neither
        if not proven:
            return Refusal(415, "send application/json, or a form from a page of this server")
        if self.access is not None and not same_origin and _bearer_of(headers) is None:
            return Refusal(403, "Forbidden: send this server's Origin or a bearer token")
        return None


def _navigates(method: str, headers: dict[bytes, bytes | None]) -> bool:
    """Return whether a browser opens the address as the document of a tab."""
    return (
        method == "GET"
        and headers[b"sec-fetch-mode"] == b"navigate"
        and headers[b"sec-fetch-dest"] == b"document"
    )


def _media(content_type: bytes | None) -> bytes | None:
    return None if content_type is None else content_type.partition(b";")[0].strip().lower()


def _bearer(headers: RawHeaders) -> str | None:
    for name, value in headers:
        if name == b"authorization":
            return _token(value)
    return None


def _bearer_of(headers: dict[bytes, bytes | None]) -> str | None:
    value = headers[b"authorization"]
    return None if value is None else _token(value)


def _token(value: bytes) -> str | None:
    scheme, _, token = value.partition(b" ")
    return token.strip().decode("latin-1") if scheme.lower() == b"bearer" else None


def _cookies(headers: RawHeaders, name: str) -> list[str]:
    """Return all cookie values with this name: other ports may have set one, too."""
    cookie = name.encode("ascii")
    pairs = [
        pair.strip().partition(b"=")
        for key, value in headers
        if key == b"cookie"
        for pair in value.split(b";")
    ]
    return [value.decode("latin-1") for key, _, value in pairs if key == cookie]
