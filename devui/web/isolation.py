"""Pages for sandboxed frames, which draw what agents write and load what other servers offer.

The browser gives such a page an origin of its own. To the guard it is another site, so it can load
none of our files: its scripts and styles are inline, and its policy names them by their hashes.
"""

import base64
import posixpath
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

_NONE: Final = "'none'"
_SCRIPT: Final = re.compile(r'<script src="([^"]+)"></script>')
_INLINE: Final = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def join_page(path: str, files: Mapping[str, bytes]) -> str:
    """Return the page at `path` with the scripts that it names inside it.

    Raises:
        KeyError: A script isn't in `files`; the key is its path.
    """

    def inline(match: re.Match[str]) -> str:
        script = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
        return f"<script>{files[script].decode()}</script>"

    return _SCRIPT.sub(inline, files[path].decode())


def source_of(text: str) -> str:
    """Return what allows an inline script or style in a policy."""
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"


def frame_headers(*, scripts: str = "", styles: str, pictures: str = _NONE) -> dict[str, str]:
    """Return the headers of a page that only a frame of ours may show.

    The arguments are sources of the policy. Without scripts, the sandbox allows none.
    """
    policy = (
        f"default-src 'none'; script-src {scripts or _NONE}; style-src {styles};"
        f" img-src {pictures}; base-uri 'none'; form-action 'none'; frame-ancestors 'self';"
        f" sandbox{' allow-scripts' if scripts else ''}"
    )
    return {"Content-Security-Policy": policy, "X-Frame-Options": "SAMEORIGIN"}


def script_page_headers(page: str) -> dict[str, str]:
    """Return the headers of a page that `join_page` returned, for its scripts.

    They may use any inline style: Mermaid measures texts in the styles of the diagram.
    """
    scripts = " ".join(source_of(script) for script in _INLINE.findall(page))
    return frame_headers(scripts=scripts, styles="'unsafe-inline'")
