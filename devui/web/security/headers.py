"""Request headers as they were sent, and the headers that every response carries."""

from collections.abc import Iterable, Mapping
from typing import Final

RawHeaders = list[tuple[bytes, bytes]]
"""Headers of an ASGI message: lower-case names, values as sent."""

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " media-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; frame-src 'self';"
    " base-uri 'none'; object-src 'none'; frame-ancestors 'none'"
)
"""R13: everything from this server, nothing inline, nobody may frame it."""

_ALWAYS: Final[Mapping[bytes, bytes]] = {
    b"x-content-type-options": b"nosniff",
    # Not `no-referrer`: with it, browsers send `Origin: null` along with our own plain forms, which
    # the guard refuses. Other origins learn nothing from either.
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
    """A header that decides about access is malformed or was sent more than once."""


def single(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> bytes | None:
    """Return the value of a header that may be sent once at most.

    Raises:
        HeaderError: it was sent twice, so that two readers could see different values.
    """
    values = [value for key, value in headers if key == name]
    if len(values) > 1:
        raise HeaderError(f"more than one {name.decode('ascii').title()} header")
    return values[0] if values else None


def secure_headers(
    headers: Iterable[tuple[bytes, bytes]], *, cacheable: bool, cors: RawHeaders | None = None
) -> RawHeaders:
    """Return response headers with ours in place (R05, R13) and no CORS header but ours (R06).

    Args:
        headers: what the application set; it may bring a policy of its own for user bytes (R24).
        cors: the CORS headers for an allowed other origin.
        cacheable: keep the application's cache-control; without one nothing is stored.
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
    """The CORS headers of an answer to a page of another origin, which asked with these headers.

    It may send any method and every header that it names, and read every answer.
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
