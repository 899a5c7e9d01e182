"""Artifacts: bytes an agent made, handed out so that nothing in them can act (R24)."""

from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from devui.web.errors import BadRequest, NotFound
from devui.web.text.numbers import whole_number
from devui.web.views.lookup import session_of

_INLINE: Final = {"image/png", "image/jpeg", "image/gif", "image/webp", "text/plain"}
"""Types a browser may show; everything else is a download."""
_MAGIC: Final = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}
"""What the bytes of a picture begin with, whatever it is said to be."""
_SANDBOX: Final = (
    "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'self'"
)


async def show(request: Request) -> Response:
    """One version of an artifact, the newest without `version`; `?name=` is any name, `..` too."""
    found, session = await session_of(request)
    name = request.path_params.get("name") or request.query_params.get("name", "")
    asked = request.query_params.get("version")
    version = whole_number(asked)
    if asked is not None and version is None:
        raise BadRequest("`version` has to be a whole number from 0")
    artifact = await found.journal.artifacts.load(
        session.app, session.user, session.id, name, version=version
    )
    if artifact is None:
        raise NotFound("there is no such artifact in this session")
    content = artifact.data if artifact.data is not None else (artifact.text or "").encode()
    mime = artifact.row.mime if artifact.data is not None else "text/plain"
    inline = mime in _INLINE and _is(mime, content)
    shown = mime if inline else "application/octet-stream"
    charset = "; charset=utf-8" if shown == "text/plain" else ""
    return Response(
        content,
        headers={
            "Content-Type": f"{shown}{charset}",
            "Content-Disposition": _disposition(found.veil.text(name), inline=inline),
            "Content-Security-Policy": _SANDBOX,
            "Accept-Ranges": "bytes",
        },
    )


def _is(mime: str, content: bytes) -> bool:
    """Whether the bytes look like what they are declared to be."""
    if mime == "text/plain":
        return b"\0" not in content
    if mime == "image/webp" and content[8:12] != b"WEBP":
        return False
    return content.startswith(_MAGIC[mime])


def _disposition(name: str, *, inline: bool) -> str:
    """RFC 6266: a plain name for old readers, the true one encoded."""
    base = name.removeprefix("user:").replace("\\", "/").rpartition("/")[2] or "artifact"
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._- ") else "_" for c in base)
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename=\"{plain[:100]}\"; filename*=UTF-8''{quote(base[:100], safe='')}"
