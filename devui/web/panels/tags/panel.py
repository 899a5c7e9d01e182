"""The tags of a session's page."""

from collections.abc import Iterable

from markupsafe import Markup

from devui.store.rows import SessionRow
from devui.store.tags import folded
from devui.web.basic_parts import Tag
from devui.web.htmx import fill
from devui.web.links import tags_url
from devui.web.panels.apps.lists import tag_links
from devui.web.panels.tags.parts import TagField, TagForm, TagList, TitleTags
from devui.web.services import Services
from devui.web.text.deceptive_characters import readable


async def session_tags(services: Services, session: SessionRow) -> tuple[Tag, ...]:
    """Return the session's tags, with links to the app's sessions that have them."""
    return tag_links(await services.journal.tags.of(session.key), session.app)


async def tag_form(services: Services, session: SessionRow, tags: tuple[Tag, ...]) -> TagForm:
    """Return the form in the session's menu."""
    field = await tag_field(services, session, tags)
    return TagForm(tags_url(session.key), TagList(tags), field)


async def tag_field(
    services: Services, session: SessionRow, tags: Iterable[Tag], *, has_focus: bool = False
) -> TagField:
    """Return the field for a new tag, which suggests those of the app's other sessions."""
    names = {folded(tag.name) for tag in tags}
    used = await services.journal.tags.counts(session.app)
    suggestions = tuple(readable(each.name) for each in used if each.folded not in names)
    return TagField(suggestions, has_focus)


def tag_updates(services: Services, tags: tuple[Tag, ...]) -> Markup:
    """Return updates of the session's tags on an open page."""
    part = services.render.part
    return fill("#tags", part(TitleTags(tags))) + fill("#tag-list", part(TagList(tags)))
