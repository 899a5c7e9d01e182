"""Names who did something: programs, terminals and coding agents.

People on pages aren't named: they are the usual case, and a tab's name is a color that changes.
"""

from typing import Final

from devui.web.text.deceptive_characters import visible

_PAGE: Final = "a page"
_OF_TABS: Final = " tab"
_UNNAMED: Final = "api"
"""The actor of clients that give no name."""


def by(actor: str | None) -> str:
    """Return `by mcp:claude`; "" for a page, a client without a name, or an unknown actor."""
    if not actor or actor in {_PAGE, _UNNAMED} or actor.endswith(_OF_TABS):
        return ""
    return f"by {visible(actor)}"
