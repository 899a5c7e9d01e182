"""The headers and the configuration of htmx 4.0.1; no other module names an `HX-` header.

Names and meaning were read in the vendored source: `#createCoreHeaders`, `#extractHxHeaders`,
`#handleHeadersAndMaybeReturnEarly`, `#handleStatusCodes` and `#initHtmxConfig`.

A target that is not on the page is passed over by htmx, so the stream need not know what the
reader has open.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from markupsafe import Markup
from starlette.datastructures import Headers

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


CONFIG: Final[Mapping[str, object]] = {
    "extensions": "sse",
    "mode": "same-origin",
    "prefix": "",
    "includeIndicatorCSS": False,
    "implicitInheritance": False,
    "history": True,
    "defaultTimeout": 15_000,
    "noSwap": [204, 304, "4xx", "5xx"],
    "morphIgnore": ["data-htmx-powered", "open"],
    "morphSkip": ".break-edit[open], .queue-edit[open]",
    "morphSkipChildren": ".call-ending, .unknown .field-error, .fork .field-error,"
    " [data-loads-once]:has(form, .pages)",
    "sse": {"reconnectDelay": 500, "reconnectMaxDelay": 10_000},
}
"""What the page tells htmx before anything else (R14, with the names of 4.x).

extensions: no other script may register an extension.
mode: requests to another origin fail in the browser.
prefix: blank, so that `data-hx-*` attributes are not a second spelling of `hx-*`.
includeIndicatorCSS: no style sheet from the script.
history: going back fetches the page again; htmx 4 keeps no copies in the browser.
noSwap: an error never replaces what the page shows; its `<hx-partial>` is still placed, and
    `hx-status:422` on an element wins over the class.
morphIgnore: whether a `<details>` is open is the reader's business.
morphSkip: a form that is open stays as it was when it was opened, so that it is refused, and not
    saved over what somebody else has changed meanwhile.
morphSkipChildren: what was typed, and what an answer told at a field of a form, stays while the
    page goes on around it. This takes the place of htmx's attribute for it. What an element with
    an id of its own has fetched once stays, too: nothing would fetch it again.
sse: milliseconds; a local server that was restarted is found again within ten seconds.

Scripts, `hx-on`, `js:` values and trigger filters have no switch in 4.x: they need
`unsafe-inline` or `unsafe-eval`, which the content security policy never grants.
`inlineScriptNonce` must never be set: it would bless scripts in swapped text.
"""

CONFIG_JSON: Final = json.dumps(CONFIG, separators=(",", ":"))
"""`CONFIG` as the content of `<meta name="htmx-config">`."""


@dataclass(frozen=True, slots=True)
class HtmxRequest:
    """What htmx says about a request; false when it was not made by htmx."""

    active: bool
    """htmx made the request. A restored history entry may come without this (see `restores`)."""
    partial: bool
    """A fragment is wanted; without it the answer is a whole page."""
    boosted: bool
    """A plain link or form that htmx took over."""
    restores: bool
    """Back or forward: the whole page is fetched again."""
    source: str | None
    """The element that asked, as `tag#id`."""
    target: str | None
    """The element that the answer goes to, as `tag#id`."""
    current_url: str | None
    """Where the browser is; sent by the page, so nothing may be decided by it."""

    @classmethod
    def read(cls, headers: Headers) -> Self:
        """Take the request headers apart."""
        return cls(
            active=headers.get("hx-request") == "true",
            partial=headers.get("hx-request-type") == "partial",
            boosted=headers.get("hx-boosted") == "true",
            restores=headers.get("hx-history-restore-request") == "true",
            source=headers.get("hx-source"),
            target=headers.get("hx-target"),
            current_url=headers.get("hx-current-url"),
        )

    def __bool__(self) -> bool:
        return self.active


def opens_page(headers: Headers) -> bool:
    """Whether a person opens the address itself, such as in a new tab, rather than the page
    fetching a piece for itself."""
    return headers.get("sec-fetch-mode") == "navigate"


def push_url(url: str) -> dict[str, str]:
    """Let the browser show `url` and remember it."""
    return {"HX-Push-Url": url}


def keep_url() -> dict[str, str]:
    """Leave the address bar alone although the element says `hx-push-url`."""
    return {"HX-Push-Url": "false"}


def redirect(url: str) -> dict[str, str]:
    """Leave for `url` with a full page load."""
    return {"HX-Redirect": url}


def refresh() -> dict[str, str]:
    """Load the page again."""
    return {"HX-Refresh": "true"}


def retarget(selector: str, swap: str | None = None) -> dict[str, str]:
    """Put the answer into another element, if wished with another swap style."""
    return {"HX-Retarget": selector} | ({} if swap is None else {"HX-Reswap": swap})


def trigger(events: Mapping[str, object]) -> dict[str, str]:
    """Dispatch DOM events with their details on the element that asked."""
    return {"HX-Trigger": json.dumps(events)}
