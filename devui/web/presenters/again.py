"""The menu of a user's message: back to before it, saying it in another way."""

from collections.abc import Mapping
from typing import Any, Final

from devui.debugger.recovery.forking import said
from devui.web.links import forks_url, replays_url, rewind_url, say_again_url
from devui.web.parts import every as parts

_SAYABLE: Final = 20_000
"""Characters of a message that the page offers to say again."""


def say_again(number: int, event: Mapping[str, Any], session: int) -> parts.SayAgain | None:
    """What opens the menu of a message; None where there is nothing to say again."""
    return None if said(event) is None else parts.SayAgain(number, say_again_url(session, number))


def again_menu(number: int, event: Mapping[str, Any], session: int) -> parts.AgainMenu | None:
    """The menu itself."""
    given = said(event)
    if given is None:
        return None
    pieces = (event.get("content") or {}).get("parts") or []
    alone = all(set(piece) == {"text"} for piece in pieces)
    return parts.AgainMenu(
        number=number,
        rewind_action=rewind_url(session),
        fork_action=forks_url(session),
        replay_action=replays_url(session),
        text=given if alone and len(given) <= _SAYABLE else "",
    )
