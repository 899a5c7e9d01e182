"""Reads request headers as sent, and defines the headers of every response."""

from collections.abc import Iterable, Mapping
from typing import Final

RawHeaders = list[tuple[bytes, bytes]]
"""Headers of an ASGI message: lower-case names, values as sent."""

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " media-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; frame-src 'self';"
    " base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
)
"""R13: load everything from this server, allow nothing inline and no framing."""

_ALWAYS: Final[Mapping[bytes, bytes]] = {
    b"x-content-type-options": b"nosniff",
    # Not `no-referrer`: browsers would then send `Origin: null` with our own plain forms, which
    # the guard refuses. Other origins learn nothing with either value.
    b"referrer-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": (
        b"accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(),"
        b" microphone=(), midi=(), payment=(), serial=(), usb=()"
    ),
}
_UNLESS_SET: Final[Mapping[bytes, bytes]] = {
    b"content-security-policy": CONTENT_SECURITY_POLICY.encode("ascii"),
    b"cross-origin-opener-policy": b"same-origin",
    b"x-frame-options": b"DENY",
}
_NO_STORE: Final = (b"cache-control", b"no-store")


class HeaderError(ValueError):
    """A header that access depends on is malformed or was sent more than once."""


def single(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """Return the value of a header that may be sent at most once.

    Raises:
        HeaderError: it was sent more than once, so two readers could see different values.
    """
    values = [value for key, value in headers if key == name]
    if len(values) > 1:
        raise HeaderError(f"more than one {name.decode('ascii').title()} header")
    return values[0] if values else None


def secure_headers(
    headers: Iterable[tuple[bytes, bytes]], *, cacheable: bool, cors: RawHeaders | None = None
) -> RawHeaders:
    """Return response headers with ours added (R05, R13) and no CORS headers but ours (R06).

    Args:
        headers: what the application set; it may set its own policy for user-supplied bytes (R24).
        cors: the CORS headers for an allowed other origin.
        cacheable: keep the application's cache-control. Without one, the response isn't cached.
    """
    pairs = [
        (name, value)
        for name, value in ((name.lower(), value) for name, value in headers)
        if not _ours(name, cacheable=cacheable)
    ]
    present = {name for name, _ in pairs}
    pairs += _ALWAYS.items()
    pairs += [(name, value) for name, value in _UNLESS_SET.items() if name not in present]
    if b"cache-control" not in present:
        pairs.append(_NO_STORE)
    return [*pairs, *(cors or ())]


def for_caller(caller: bytes, headers: Iterable[tuple[bytes, bytes]]) -> RawHeaders:
    """Return the CORS headers of a response to a page of another origin.

    `headers` are those of its request. It may use any method and every header it names, and read
    every response.
    """
    names = dict(headers).get(b"access-control-request-headers")
    return [
        (b"access-control-allow-origin", caller),
        (b"access-control-allow-credentials", b"true"),
        (b"access-control-expose-headers", b"ETag, X-Devui-Warning, X-Error-Id"),
        (b"access-control-allow-methods", b"DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
        *([(b"access-control-allow-headers", names)] if names else []),
        (b"access-control-max-age", b"600"),
        (b"vary", b"Origin"),
    ]


def _ours(name: bytes, *, cacheable: bool) -> bool:
    return (
        name in _ALWAYS
        or name.startswith(b"access-control-")
        or (name == b"cache-control" and not cacheable)
    )
