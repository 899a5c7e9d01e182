"""The strip of watched keys, with and without keys, and the button that watches one."""

from devui.web.panels.watch.panel import watch_button
from devui.web.panels.watch.parts import WatchedKey, WatchStrip
from tests.web.travel_samples import KEY

BUTTON = watch_button(KEY, "city", is_watched=False, number=11, at=None)


def _key(label: str, text: str, mark: str, old: str = "") -> WatchedKey:
    button = watch_button(KEY, label, is_watched=True, number=11, at=None)
    return WatchedKey(label, f"/sessions/{KEY}?key={label}", text, mark, old, button)


STRIP = WatchStrip(
    11,
    (
        _key("bill", "75.6", "changed", "-12"),
        _key("user:city", '"London"', "same"),
        _key("plan", "", "removed", '{"days": 3}'),
        _key("app:rate", "1.2", "new"),
    ),
)
NONE = WatchStrip()
ALL = (STRIP, NONE, BUTTON)
