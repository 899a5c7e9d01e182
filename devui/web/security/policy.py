"""What to do with a request, decided from its first lines alone: a pure function (R02 to R07).

The order matters. First whether the request was meant for this server at all (Host), then whether
a foreign page made it (Sec-Fetch-Site, Origin), then whether the sender may be here (token), then
whether a change arrives in a form that no foreign page can send. No header that a page could
choose, and nothing derived from the request, takes part in the decision.

    Sec-Fetch-Site             top-level GET       anything else
    ----------------------     ---------------     -------------
    absent (not a browser)     go on               go on
    same-origin                go on               go on
    none (typed, bookmark)     go on               403
    same-site, cross-site      neutral page        403
    anything else              403                 403

Same-site is as foreign as cross-site: other ports of localhost are same-site, and the browser sends
them our cookie, SameSite=Strict or not. A link from a foreign page gets a neutral page that loads
itself again as same-origin, so that no request of another site ever reaches a view.
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
    """What becomes of a request that is not refused."""

    PASS = "pass"  # noqa: S105
    """It goes on to the application."""
    ARRIVE = "arrive"
    """It comes from a link on another site: a neutral page that loads itself again."""
    PREFLIGHT = "preflight"
    """A browser asks whether a page of an allowed origin may send what it wants to send."""
    SIGN_IN = "sign in"
    """Nobody is signed in: 401, with a page where a browser asks for one."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The request ends here."""

    status: int
    reason: str
    """Fixed text; nothing of the request is in it."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one server."""

    hosts: Hosts
    access: Access | None
    """`None`: no authentication, which `check_bind` allows on loopback alone."""
    port: int
    """Part of the cookie's name: other ports of the host share the cookie jar."""
    origins: Origins = field(default_factory=Origins)
    """Other origins whose pages may call; with the token, for the cookie is our own pages'."""
    open_paths: frozenset[str] = field(default=frozenset({"/login", "/health", "/llms.txt"}))
    """Paths that need no credentials; everything else does (R07)."""
    open_prefix: str = "/static/"
    """Files of the program itself, the style of the sign-in page among them."""

    @property
    def cookie(self) -> str:
        """The name of the cookie."""
        return f"devui-{self.port}"

    def judge(self, scope: Scope) -> Verdict | Refusal:
        """Decide about an HTTP request; never raises."""
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
        """Tell whether the request carries the token or the cookie of a signed-in browser."""
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
        """The allowed other origin whose page makes the request; None for all other requests.

        Behind a proxy our own pages have such an origin: browsers call them same-origin.
        """
        by_name = dict(headers)
        origin = by_name.get(b"origin")
        if origin is None or origin in self.hosts.origins or not self.origins.allow(origin):
            return None
        return None if by_name.get(b"sec-fetch-site") == b"same-origin" else origin

    def browser(self, scope: Scope) -> bytes | None:
        """Which signed-in browser sent the request from our own pages; `None` for all others."""
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
        """Refuse a change that a foreign page could have sent, or whose kind we do not take."""
        if method in SAFE_METHODS:
            return None
        has_origin = headers[b"sec-fetch-site"] == b"same-origin" or headers[b"origin"] is not None
        same_origin = ours and has_origin
        media = _media(headers[b"content-type"])
        if media is None and headers[b"content-length"] in {None, b"0"}:
            proven = True  # a form always says what it is; nothing to misread in an empty body
        elif media in {_FORM, _FILES}:
            proven = same_origin or headers[b"hx-request"] == b"true"
        else:
            proven = media in {_JSON, _PROTOBUF}  # neither of which a form can send
        if not proven:
            return Refusal(415, "send application/json, or a form from a page of this server")
        if self.access is not None and not same_origin and _bearer_of(headers) is None:
            return Refusal(403, "Forbidden: send this server's Origin or a bearer token")
        return None


def _navigates(method: str, headers: dict[bytes, bytes | None]) -> bool:
    """Tell whether a browser loads the address into a tab of its own."""
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
    """Return every value sent under `name`: other ports may have left one, too."""
    cookie = name.encode("ascii")
    pairs = [
        pair.strip().partition(b"=")
        for key, value in headers
        if key == b"cookie"
        for pair in value.split(b";")
    ]
    return [value.decode("latin-1") for key, _, value in pairs if key == cookie]
