"""A fragment of an app's page, which the page fetches or a person opens by its URL."""

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from devui.web.basic_parts import Theme
from devui.web.htmx import opens_page
from devui.web.links import app_url
from devui.web.lookup import theme_of
from devui.web.panels.graph.parts import GraphPanel
from devui.web.panels.inspector.parts import Hint
from devui.web.panels.memory.parts import MemoryPanel
from devui.web.panels.trials.parts import ToolList
from devui.web.services import services_of

Piece: TypeAlias = GraphPanel | MemoryPanel | ToolList | Hint


@dataclass(frozen=True, slots=True)
class PiecePage:
    """`/apps/{app}/graph`, `…/memory`, `…/tools`: one fragment of the app's page by itself."""

    template: ClassVar[str] = "pages/piece.html"
    theme: Theme
    app: str
    app_href: str
    title: str
    piece: Piece


def shown_of_app(request: Request, app: str, title: str, piece: Piece) -> Response:
    """Answer with the fragment; with a page around it if a person opens its URL."""
    services = services_of(request)
    if not opens_page(request.headers):
        return services.render.page(piece)
    return services.render.page(PiecePage(theme_of(request), app, app_url(app), title, piece))
