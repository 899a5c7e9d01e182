"""The headers and the configuration of htmx 4.0.1; only this module names `HX-` headers.

Names and meanings come from the vendored source: `#createCoreHeaders`, `#extractHxHeaders`,
`#handleHeadersAndMaybeReturnEarly`, `#handleStatusCodes` and `#initHtmxConfig`.

htmx skips a target that is not on the page, so a stream need not know what its reader has open.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from markupsafe import Markup
from starlette.datastructures import Headers

_PARTIAL = Markup('<hx-partial hx-target="{}" hx-swap="{}">{}</hx-partial>')


def append(target: str, html: Markup) -> Markup:
    """Return a partial that appends `html` to the target."""
    return _PARTIAL.format(target, "beforeend", html)


def fill(target: str, html: Markup) -> Markup:
    """Return a partial that morphs the target's content into `html`, keeping what is the same."""
    return _PARTIAL.format(target, "innerMorph", html)


def say(target: str, text: str) -> Markup:
    """Return a partial that fills the target with `text`, which may be untrusted."""
    return fill(target, Markup("<span hx-ignore>{}</span>").format(text))


def remove(target: str) -> Markup:
    """Return a partial that removes the target."""
    return _PARTIAL.format(target, "delete", "")


def renew(target: str, html: Markup) -> Markup:
    """Return a partial that replaces the target's content; what was typed in it is lost."""
    return _PARTIAL.format(target, "innerHTML", html)


def replace(target: str, html: Markup) -> Markup:
    """Return a partial that morphs the target itself into `html`, keeping what is the same."""
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
"""The configuration that each page gives htmx first (R14, with the names of 4.x).

extensions: no other script may register an extension.
mode: requests to another origin fail in the browser.
prefix: blank, so that `data-hx-*` is not a second spelling of `hx-*`.
includeIndicatorCSS: the script adds no style sheet.
history: going back fetches the page again; htmx 4 keeps no copies in the browser.
noSwap: an error never replaces what the page shows; its `<hx-partial>` is still swapped in, and
    `hx-status:422` on an element takes precedence.
morphIgnore: the reader decides whether a `<details>` is open.
morphSkip: an open form stays as it was when it was opened, so that submitting it is refused
    instead of overwriting what somebody else has changed meanwhile.
morphSkipChildren: typed text and the errors at form fields stay while the rest of the page
    updates. This replaces htmx's attribute for the purpose. What an element with its own id
    has fetched once stays, too, because nothing would fetch it again.
sse: in milliseconds; a page reconnects to a restarted local server within ten seconds.

Scripts, `hx-on`, `js:` values and trigger filters can't be disabled in 4.x, but they need
`unsafe-inline` or `unsafe-eval`, which the content security policy never grants.
`inlineScriptNonce` must never be set: it would allow scripts in swapped content to run.
"""

CONFIG_JSON: Final = json.dumps(CONFIG, separators=(",", ":"))
"""`CONFIG` as the content of `<meta name="htmx-config">`."""


@dataclass(frozen=True, slots=True)
class HtmxRequest:
    """What htmx says about a request; falsy if htmx didn't make it."""

    active: bool
    """Whether htmx made the request. A restored history entry may come without this header (see
    `restores`)."""
    partial: bool
    """Whether a fragment is requested rather than a whole page."""
    boosted: bool
    """Whether the request comes from a plain link or form that htmx took over."""
    restores: bool
    """Whether the reader went back or forward, which fetches the whole page again."""
    source: str | None
    """The element that made the request, as `tag#id`."""
    target: str | None
    """The element that the response goes to, as `tag#id`."""
    current_url: str | None
    """The browser's current URL; sent by the page, so nothing may be decided by it."""

    @classmethod
    def read(cls, headers: Headers) -> Self:
        """Parse the request headers."""
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
    """Return whether a person opens the URL itself, such as in a new tab, rather than the page
    fetching a fragment."""
    return headers.get("sec-fetch-mode") == "navigate"


def push_url(url: str) -> dict[str, str]:
    """Make the browser show `url` and add it to its history."""
    return {"HX-Push-Url": url}


def keep_url() -> dict[str, str]:
    """Leave the address bar alone, even if the element has `hx-push-url`."""
    return {"HX-Push-Url": "false"}


def redirect(url: str) -> dict[str, str]:
    """Go to `url` with a full page load."""
    return {"HX-Redirect": url}


def refresh() -> dict[str, str]:
    """Reload the page."""
    return {"HX-Refresh": "true"}


def retarget(selector: str, swap: str | None = None) -> dict[str, str]:
    """Swap the response into another element, optionally with another swap style."""
    return {"HX-Retarget": selector} | ({} if swap is None else {"HX-Reswap": swap})


def trigger(events: Mapping[str, object]) -> dict[str, str]:
    """Dispatch DOM events with their details on the requesting element."""
    return {"HX-Trigger": json.dumps(events)}
