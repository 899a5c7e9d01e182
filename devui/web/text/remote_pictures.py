"""Pictures on other servers: each is loaded only if a reader asks for it, from the named host."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_ODD = re.compile(r"[\x00-\x20\\\x7f]")
"""Characters that browsers and `urlsplit` may read differently."""
_LONGEST = 4_000


class RemotePicture(NamedTuple):
    """The address of a picture on another server."""

    address: str
    host: str
    """Its host and port, in ASCII: letters that look like others are seen to be none."""

    @property
    def origin(self) -> str:
        """The only origin that a page with this picture may load from."""
        return f"{urlsplit(self.address).scheme}://{self.host}"


def remote_picture(address: str) -> RemotePicture | None:
    """Return the picture at an http or https address; None for every other address.

    Addresses of which a reader might misread the host, as with a user name in them, are refused.
    """
    if len(address) > _LONGEST or _ODD.search(address):
        return None
    try:
        parts = urlsplit(address)
        name = (parts.hostname or "").encode("idna").decode("ascii")
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or "@" in parts.netloc or not _HOST.fullmatch(name):
        return None
    host = name if port is None else f"{name}:{port}"
    return RemotePicture(urlunsplit(parts._replace(netloc=host)), host)
