"""Listening sockets: on the port that was asked for, or on the next free one."""

import errno
import socket
import sys

from devui.settings import DEFAULT_HOST, DEFAULT_PORT

_PORTS_TRIED = 50
_BACKLOG = 128
_UNREAD_SECONDS = 30
"""After so long with nothing taken the system cuts a connection off (R60).

The streams have given such a reader up by then, but what waits in the connection's buffers would
keep it open as long as its reader lives.
"""
_ABOUT_THE_PORT = {errno.EADDRINUSE, errno.EACCES}


def listen(host: str, port: int | None) -> list[socket.socket]:
    """Listening sockets on the port asked for, or on the first free one from the default on.

    Raises OSError that says which option to change.
    """
    ports = range(DEFAULT_PORT, DEFAULT_PORT + _PORTS_TRIED) if port is None else [port]
    for candidate in ports:
        try:
            return _bound(host, candidate)
        except OSError as error:
            if port is None and error.errno == errno.EADDRINUSE:
                continue
            option = "--port" if error.errno in _ABOUT_THE_PORT else "--host"
            raise OSError(
                f"cannot listen on {host}:{candidate}: {error.strerror}; choose another {option}"
            ) from error
    raise OSError(f"no free port between {ports[0]} and {ports[-1]} on {host}")


def _bound(host: str, port: int) -> list[socket.socket]:
    """A socket on the address; loopback also on its IPv6 twin, so that `localhost` is ours alone.

    Raises OSError when the port is taken on either.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sockets = [_socket(family, host, port)]
    if host == DEFAULT_HOST and _has_ipv6_loopback():
        try:
            sockets.append(_socket(socket.AF_INET6, "::1", sockets[0].getsockname()[1]))
        except OSError:
            sockets[0].close()
            raise
    return sockets


def _socket(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    # Not socket.create_server: it leaves the protocol at 0, and asyncio turns Nagle's algorithm off
    # only for sockets that say they are TCP. With it, the pieces of a stream wait 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        if sys.platform == "linux":  # connections have it from their listener
            limit = _UNREAD_SECONDS * 1000
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, limit)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def _has_ipv6_loopback() -> bool:
    """Whether the system has the address ::1 at all."""
    try:
        _socket(socket.AF_INET6, "::1", 0).close()
    except OSError:
        return False
    return True
