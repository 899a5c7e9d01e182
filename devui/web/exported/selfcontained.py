"""Makes parts of the pages stand alone: no server to ask, no form to post, nothing to load."""

import base64
import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from devui.store.journal import Journal
from devui.store.rows import SessionRow
from devui.web.assets import Assets

# Jinja escapes quotes and angle brackets in everything that is anybody's, so what these find was
# written by a template.
_FORM: Final = re.compile(r"<form\b.*?</form>", re.DOTALL)
_FORK: Final = re.compile(r'<details class="fork".*?</details>', re.DOTALL)
_FETCHED: Final = re.compile(r"<details\b[^>]*\shx-get=.*?</details>", re.DOTALL)
_HTMX: Final = re.compile(r'\s(?:hx-[\w:.-]+|data-gutter|aria-haspopup)(?:="[^"]*")?(?=[\s>])')
_LINK: Final = re.compile(r'\shref="(/[^"]*)"')
_ID: Final = re.compile(r'\s(id|for|aria-describedby|aria-labelledby)="([\w:.-]+)"')
_EVENT: Final = re.compile(r"/sessions/\d+")
_FILE: Final = re.compile(r"/sessions/\d+/artifacts/([^/?]+)")
_LARGEST: Final = 2_000_000
"""Bytes of a file that the page still brings along."""


class Inlined:
    """Styles and script as part of the page, and the policy that lets in these and nothing else."""

    def __init__(self, assets: Assets, styles: Sequence[str], script: str) -> None:
        self._css = assets.read(f"css/{'+'.join(styles)}.css").decode()
        self._js = assets.read(script).decode()

    def into(self, page: str) -> str:
        """The page with both in their places."""
        policy = (
            f"default-src 'none'; img-src data:; style-src '{_hash(self._css)}';"
            f" script-src '{_hash(self._js)}'; base-uri 'none'; form-action 'none'"
        )
        page = page.replace("<!--policy-->", policy)
        page = page.replace("<!--styles-->", f"<style>{self._css}</style>")
        return page.replace("<!--script-->", f"<script>{self._js}</script>")


async def link_free(
    text: str, journal: Journal, session: SessionRow, *, apart: int | None = None
) -> str:
    """A part whose links lead to places of the page, whose files come along, and that asks nobody.

    `apart` is the event that a part is about; its ids are made different from those of others.
    """
    text = _HTMX.sub("", _FORM.sub("", _FETCHED.sub("", _FORK.sub("", text))))
    places = {url: await _place(url, journal, session) for url in set(_LINK.findall(text))}
    text = _LINK.sub(lambda match: places[match[1]], text)
    if apart is None:
        return text
    return _ID.sub(lambda match: f' {match[1]}="d{apart}-{match[2]}"', text)


async def _place(url: str, journal: Journal, session: SessionRow) -> str:
    """What stands for `href="url"`."""
    parts = urlsplit(url.replace("&amp;", "&"))
    query = parse_qs(parts.query)
    if _EVENT.fullmatch(parts.path) and query.get("event"):
        return f' href="#d-{int(query["event"][0])}"'
    file = _FILE.fullmatch(parts.path)
    if file is None:
        return ""
    version = query.get("version")
    found = await journal.artifacts.load(
        session.app,
        session.user,
        session.id,
        unquote(file[1]),
        version=int(version[0]) if version else None,
    )
    content = found and (found.data if found.data is not None else (found.text or "").encode())
    if not content or len(content) > _LARGEST:
        return ""
    return f' href="data:application/octet-stream;base64,{base64.b64encode(content).decode()}"'


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}"
