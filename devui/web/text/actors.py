"""Who did something, beside it: programs, terminals and coding agents by their names.

What people do on pages is the usual case and isn't named: a tab's name is a colour that changes.
"""

from typing import Final

from devui.web.text.visible import visible

_PAGE: Final = "a page"
_OF_TABS: Final = " tab"
_UNNAMED: Final = "api"
"""What a client is called that gives no name."""


def by(actor: str | None) -> str:
    """`by mcp:claude`; "" for a page, a client without a name, and if it isn't known."""
    if not actor or actor in {_PAGE, _UNNAMED} or actor.endswith(_OF_TABS):
        return ""
    return f"by {visible(actor)}"
