"""Breakpoints: the tab, the gutter of the timeline, and the routes of both."""

from typing import Final

from devui.web.later import Later
from devui.web.routing import Route

_views = Later("devui.web.panels.breakpoints.views")
_api = Later("devui.web.panels.breakpoints.api")
_SESSION: Final = "/sessions/{key}"
_APP: Final = "/api/apps/{app}/breakpoints"

PAGES: Final = [
    Route(_SESSION + "/breakpoints", _views.add, methods=["POST"]),
    Route(_SESSION + "/breakpoints/{number}", _views.switch, methods=["POST"]),
    Route(_SESSION + "/breakpoints/{number}/edit", _views.edit, methods=["POST"]),
    Route(_SESSION + "/breakpoints/{number}/delete", _views.delete, methods=["POST"]),
    Route(_SESSION + "/events/{number}/breaks", _views.sheet, methods=["GET"]),
    Route(_SESSION + "/breaks", _views.here, methods=["GET"]),
    Route(_SESSION + "/hits/{direction}", _views.nearest_hit, methods=["GET"]),
]
API: Final = [
    Route(_APP, _api.every, methods=["GET"]),
    Route(_APP, _api.add, methods=["POST"]),
    Route(_APP + "/{number}", _api.change, methods=["PATCH"]),
    Route(_APP + "/{number}", _api.delete, methods=["DELETE"]),
    Route("/api/sessions/{key}/hits", _api.hits, methods=["GET"]),
    Route("/api/sessions/{key}/hits", _api.hits_of_draft, methods=["POST"]),
]
