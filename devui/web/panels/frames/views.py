"""`/frames/picture`: a picture on another server, in a page that can load nothing else."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from devui.web.errors import BadRequest
from devui.web.isolation import frame_headers, source_of
from devui.web.panels.frames.parts import PicturePage
from devui.web.services import services_of
from devui.web.text.remote_pictures import remote_picture


async def picture(request: Request) -> Response:
    """Show the picture at the query's `address`."""
    remote = remote_picture(request.query_params.get("address", ""))
    if remote is None:
        raise BadRequest("address must be the http or https URL of a picture, without a user name")
    render = services_of(request).render
    style = render.assets.read("css/picture.css").decode()
    page = str(render.part(PicturePage(remote.address, remote.host)))
    return HTMLResponse(
        page.replace("<!--style-->", f"<style>{style}</style>"),
        headers=frame_headers(styles=source_of(style), pictures=remote.origin),
    )
