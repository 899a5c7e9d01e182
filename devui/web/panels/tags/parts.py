"""The tags of a session's page, and the form that changes them."""

from dataclasses import dataclass
from typing import ClassVar

from devui.web.basic_parts import Tag


@dataclass(frozen=True, slots=True)
class TitleTags:
    """The tags beside the session's title. Goes into `#tags`."""

    template: ClassVar[str] = "tags/title_tags.html"
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class TagList:
    """The session's tags, each with a button that removes it. Goes into `#tag-list`."""

    template: ClassVar[str] = "tags/tag_list.html"
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class TagField:
    """The field for a new tag. Goes into `#tag-field`."""

    template: ClassVar[str] = "tags/tag_field.html"
    suggestions: tuple[str, ...]
    """The tags that other sessions of the app have."""
    has_focus: bool = False
    """Whether the field gets the focus, after a tag was added or removed."""


@dataclass(frozen=True, slots=True)
class TagForm:
    """The session's tags, and the field for a new one. Its element is `#tag-form`."""

    template: ClassVar[str] = "tags/tag_form.html"
    action: str
    list: TagList
    field: TagField
