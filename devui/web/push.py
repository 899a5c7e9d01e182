"""Pieces of the page for the stream: which element gets what, and how it is put there.

A target that is not on the page is passed over by htmx, so the stream need not know what the
reader has open.
"""

from markupsafe import Markup

_PARTIAL = Markup('<hx-partial hx-target="{}" hx-swap="{}">{}</hx-partial>')


def append(target: str, html: Markup) -> Markup:
    """Add to the end of the element."""
    return _PARTIAL.format(target, "beforeend", html)


def fill(target: str, html: Markup) -> Markup:
    """Make the element's content this, keeping what is the same (a morph)."""
    return _PARTIAL.format(target, "innerMorph", html)


def say(target: str, text: str) -> Markup:
    """Make the element say this; the text is anybody's."""
    return fill(target, Markup("<span hx-ignore>{}</span>").format(text))


def remove(target: str) -> Markup:
    """Take the element away."""
    return _PARTIAL.format(target, "delete", "")


def renew(target: str, html: Markup) -> Markup:
    """Make the element's content this anew; what was typed in it is gone."""
    return _PARTIAL.format(target, "innerHTML", html)


def replace(target: str, html: Markup) -> Markup:
    """Make the element itself this, keeping what is the same (a morph)."""
    return _PARTIAL.format(target, "outerMorph", html)
