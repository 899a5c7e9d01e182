"""Changes of tags, which open pages of the sessions show."""

from collections.abc import Collection, Mapping

from devui.debugger.events.news import TagsChanged
from devui.store.errors import BadValue
from devui.web.services import Services


async def change_tags(
    services: Services,
    sessions: Collection[int],
    *,
    add: Collection[str] = (),
    remove: Collection[str] = (),
) -> Mapping[int, list[str]]:
    """Change the tags of sessions and publish that; return them by session key. Raises BadValue."""
    tags = await services.journal.tags.change(sessions, add=add, remove=remove)
    for session in tags:
        services.bus.publish(session, TagsChanged(session))
    return tags


def tag_names(text: str) -> list[str]:
    """Return the tags in a field, separated by commas. Raises BadValue if there are none."""
    names = [each for each in map(str.strip, text.split(",")) if each]
    if not names:
        raise BadValue("no tag was given; type its name")
    return names
