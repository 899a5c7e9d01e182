"""An app's memories of a user, in words."""

from collections.abc import Mapping
from typing import Any, Final

from devui.debugger.apps.apps import UnknownApp
from devui.debugger.workers.trials import TrialFailed
from devui.debugger.workers.workers import AppBroken
from devui.web.errors import Conflict
from devui.web.links import memory_url
from devui.web.panels.memory.parts import MemoryItem, MemoryPanel
from devui.web.services import Services
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import clipped
from devui.wire.events import Content

LISTED: Final = 100
"""Maximum number of memories shown."""
_EMPTY: Final = (
    "No memories of this user yet. Agents add them with callback_context.add_session_to_memory(), "
    "programs with PATCH …/memory."
)
_UNLISTED: Final = (
    "{service} can be searched but not listed. Enter words that the memories you are looking for "
    "contain."
)


async def search_memory(services: Services, app: str, user: str, query: str) -> dict[str, Any]:
    """Return the answer of the app's memory service. Raises UnknownApp, and Conflict if the app
    doesn't load or its service fails."""
    try:
        return await services.runs.trials.recall(app, user, query, LISTED)
    except UnknownApp:
        raise
    except (AppBroken, TrialFailed) as error:
        raise Conflict(f"{app}'s memory can't be read: {error}") from error


async def memory_panel(services: Services, app: str, user: str, query: str) -> MemoryPanel:
    """Return the newest memories, or those that match. Raises UnknownApp."""
    empty = MemoryPanel(memory_url(app), user, query)
    try:
        answer = await search_memory(services, app, user, query)
    except Conflict as error:
        return MemoryPanel(empty.action, user, query, note=f"{str(error).rstrip('.')}.")
    items = tuple(_item(each) for each in answer["memories"])
    service = visible(answer["service"])
    return MemoryPanel(
        empty.action,
        user,
        query,
        items,
        service,
        _note(items, query, service, can_list=answer["listed"]),
    )


def _note(items: tuple[MemoryItem, ...], query: str, service: str, *, can_list: bool) -> str:
    if not can_list:
        return _UNLISTED.format(service=service)
    if not items:
        return "No memories match." if query else _EMPTY
    return f"Showing {LISTED} memories. Search to find others." if len(items) == LISTED else ""


def _item(memory: Mapping[str, Any]) -> MemoryItem:
    text = Content(memory.get("content") or {}).text
    at = str(memory.get("timestamp") or "").replace("T", " ")[:16]
    author = visible(str(memory.get("author") or "unknown"))
    return MemoryItem(author, visible(at), visible(clipped(text)) or "no text")
