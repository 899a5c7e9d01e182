"""The host names that this server answers to, and the addresses where it may listen.

A website that the user has open can point any name it owns at the loopback address (DNS rebinding),
and pages from any port of this machine can send requests here. So nothing in a request is used to
determine what "here" is: names and origins are configured, and a request either matches one of them
exactly or is refused (R02, R04). Nothing is normalized: browsers send the canonical form.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from devui.web.security.headers import HeaderError

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
"""The names that a server always has."""

DEFAULT_HOST: Final = "localhost"
"""The default address: 127.0.0.1 and, if the system has it, [::1]."""

_AUTHORITY: Final = re.compile(
    rb"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9])?\.?|\[[0-9A-Fa-f:.]{2,45}\])"
    rb"(?::(?P<port>[1-9][0-9]{0,4}))?"
)
_ENTRY: Final = re.compile(
    r"(?:(?P<scheme>https?)://)?"
    r"(?P<name>[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?|\[[0-9a-f:.]{2,45}\])"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
)
_REGEX, _EVERY = "regex:", "*"
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_MAX_PORT: Final = 65535


class BindRefused(ValueError):
    """The server would be reachable from other machines without the user's explicit consent."""


class BadHostEntry(ValueError):
    """An allowed host or origin is malformed."""


@dataclass(frozen=True, slots=True)
class Authority:
    """The value of a Host header: the name as sent, and the port, if given."""

    name: str
    port: int | None

    @classmethod
    def parse(cls, value: bytes) -> Self:
        """Parse a Host header; an IPv6 name keeps its brackets.

        Raises:
            HeaderError: the value is not a single host with at most one port.
        """
        match = _AUTHORITY.fullmatch(value)
        if match is None:
            raise HeaderError("malformed Host header")
        port = match["port"]
        if port is not None and int(port) > _MAX_PORT:
            raise HeaderError("malformed Host header")
        return cls(match["name"].decode("ascii"), None if port is None else int(port))


@dataclass(frozen=True, slots=True)
class Hosts:
    """The only authorities and origins that a request may carry (R02, R04)."""

    authorities: frozenset[Authority]
    origins: frozenset[bytes]

    @classmethod
    def here(cls, port: int, *, host: str = DEFAULT_HOST, extra: Iterable[str] = ()) -> Self:
        """Return the names of a server on `port`.

        Args:
            port: the port that the server listens on.
            host: the address that it binds; an address that isn't a wildcard becomes a name.
            extra: more names under which browsers reach it, as `name`, `name:port` or a whole
                origin such as `https://box.example` for a tunnel. Blank entries are skipped;
                they never disable the check.

        Raises:
            BadHostEntry: an extra entry is neither a host nor an origin.
        """
        names = [*LOOPBACK_NAMES, *_name_of(host)]
        entries = [f"http://{name}:{port}" for name in names]
        entries += [_whole(entry.strip(), port) for entry in extra if entry.strip()]
        authorities: set[Authority] = set()
        origins: set[bytes] = set()
        for entry in entries:
            scheme, name, number = _split(entry)
            authorities.add(Authority(name, number))
            plain = number == _DEFAULT_PORTS[scheme]
            if plain:
                authorities.add(Authority(name, None))
            origins.add(f"{scheme}://{name}{'' if plain else f':{number}'}".encode("ascii"))
        return cls(frozenset(authorities), frozenset(origins))


@dataclass(frozen=True, slots=True)
class Origins:
    """The other origins whose pages may call this server, as in ADK's `--allow_origins`."""

    literal: frozenset[bytes] = frozenset()
    pattern: re.Pattern[str] | None = None
    every: bool = False

    @classmethod
    def read(cls, entries: Iterable[str]) -> Self:
        """Parse origins such as `http://localhost:3000`, `regex:` with a pattern, and `*`.

        Raises:
            BadHostEntry: an entry is not an origin, or its pattern is invalid.
        """
        literal, patterns, all_entries = set(), [], list(entries)
        for entry in all_entries:
            if entry.startswith(_REGEX):
                patterns.append(_pattern(entry.removeprefix(_REGEX)))
            elif entry != _EVERY:
                match = _ENTRY.fullmatch(entry)
                if match is None or match["scheme"] is None:
                    raise BadHostEntry(
                        f"--allow-origins {entry!r} is not an origin: give scheme, name and port in"
                        " lower case and without a path, such as http://localhost:3000, or"
                        " regex:PATTERN."
                    )
                literal.add(_as_sent(entry).encode("ascii"))
        pattern = re.compile("|".join(f"(?:{each})" for each in patterns)) if patterns else None
        return cls(frozenset(literal), pattern, _EVERY in all_entries)

    @property
    def names_none(self) -> bool:
        """Whether unnamed origins are allowed, by a pattern or by `*`."""
        return self.every or self.pattern is not None

    def allow(self, origin: bytes) -> bool:
        """Return whether pages of the origin may call; never `null`, which any page can have."""
        if origin == b"null":
            return False
        matches = self.pattern and self.pattern.fullmatch(origin.decode("latin-1"))
        return self.every or origin in self.literal or bool(matches)

    @property
    def authorities(self) -> frozenset[Authority]:
        """The hosts of the origins: a proxy with such an origin sends its own name as Host."""
        hosts = (origin.partition(b"://")[2] for origin in self.literal)
        return frozenset(Authority.parse(host) for host in hosts)


def _as_sent(origin: str) -> str:
    """Return an origin as browsers send it: without the default port of its scheme."""
    try:
        parts = urlsplit(origin)
        port = parts.port
    except ValueError as error:
        raise BadHostEntry(f"--allow-origins {origin!r} is not an origin: {error}.") from error
    default = {"http": 80, "https": 443}.get(parts.scheme)
    return origin.removesuffix(f":{port}") if port is not None and port == default else origin


def _pattern(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise BadHostEntry(
            f"--allow-origins regex:{text} is not a valid regular expression: {error}."
        ) from error
    return text


def check_bind(
    host: str, *, token_given: bool, allow_remote: bool, authenticated: bool = True
) -> str:
    """Return the host to bind; refuse one that other machines can reach unless asked for (R01).

    Args:
        host: the address that the user gave; blank means the default, never "every interface".
        token_given: whether the user set their own token.
        allow_remote: whether the user explicitly allowed access from other machines.
        authenticated: false if the user turned authentication off.

    Raises:
        BindRefused: `host` is not loopback, and the token, permission or authentication is missing.
    """
    host = host.strip() or DEFAULT_HOST
    if is_loopback(host):
        return host
    where = f"{host!r} can be reached from other machines"
    if not authenticated:
        raise BindRefused(f"{where}: --no-auth works only on localhost; drop one of the two.")
    if not token_given or not allow_remote:
        raise BindRefused(
            f"{where}: set a token of your own (DEVUI_TOKEN) and add"
            " --allow-remote, or omit --host to stay on localhost."
        )
    return host


def is_loopback(host: str) -> bool:
    """Return whether `host` is a loopback address or "localhost"; other names never are."""
    if host == DEFAULT_HOST:
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _name_of(host: str) -> list[str]:
    """Return the name that a bound address adds; none for a wildcard address."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return [host.lower()]
    if address.is_unspecified:
        return []
    return [f"[{address}]" if address.version == 6 else str(address)]


def _whole(entry: str, port: int) -> str:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise BadHostEntry(
            f"allowed host {entry!r} is neither a name, a name:port nor an http(s) origin"
            " in lower case."
        )
    if match["scheme"] is None and match["port"] is None:
        return f"http://{entry}:{port}"
    return entry if match["scheme"] is not None else f"http://{entry}"


def _split(entry: str) -> tuple[str, str, int]:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise BadHostEntry(f"{entry!r} is not a host name in lower case.")
    scheme, port = match["scheme"], match["port"]
    number = int(port) if port else _DEFAULT_PORTS[scheme]
    if number > _MAX_PORT:
        raise BadHostEntry(f"allowed host {entry!r} has a port above {_MAX_PORT}.")
    return scheme, match["name"], number
