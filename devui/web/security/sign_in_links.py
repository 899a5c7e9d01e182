"""Makes sign-in links for clients that are already signed in, such as the terminal or a script."""

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import TypedDict

from devui.web.json_answers import answer
from devui.web.operation import operation
from devui.web.services import services_of


class SignInLinkJson(TypedDict):
    """A link for one browser."""

    link: str
    """The link, which works once, within ten minutes; without a sign-in, the pages' address."""


@operation(SignInLinkJson)
async def make(request: Request) -> Response:
    """Make a new sign-in link, as `devui link` prints it."""
    return answer({"link": services_of(request).new_link()})
