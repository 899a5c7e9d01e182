"""The edge in a real browser: foreign pages, sign-in, and what htmx does with answers."""

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from html import escape

import pytest
from playwright.async_api import Page, async_playwright, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from devui.web.errors import Conflict, NotFound
from devui.web.htmx import CONFIG_JSON
from devui.web.sse import AWAY, Message, Streams, stream_response
from tests.kit.patience import PATIENCE
from tests.web.edge_kit import TOKEN, Site, free_socket, running

CHROMIUM = os.environ.get("DEVUI_CHROMIUM") or shutil.which("chromium")
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium; set DEVUI_CHROMIUM"),
]


@asynccontextmanager
async def browser_page(*, hostile: bool = False) -> AsyncIterator[Page]:
    """Open a fresh browser; a violation of our policy fails the test unless the page is hostile."""
    expect.set_options(timeout=PATIENCE * 1000)
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(
            executable_path=CHROMIUM, args=OPTIONS, timeout=PATIENCE * 1000
        )
        page = await browser.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        console: list[str] = []
        page.on("console", lambda message: console.append(message.text))
        yield page
        await browser.close()
    assert hostile == any("Content Security Policy" in text for text in console)


@asynccontextmanager
async def guarded(*routes: Route) -> AsyncIterator[Site]:
    listener = free_socket()
    site = Site(port=listener.getsockname()[1], routes=routes)
    async with running(site.app, listener):
        yield site


@asynccontextmanager
async def foreign(body: str) -> AsyncIterator[int]:
    """Run another server on this machine, with one page; yield its port."""

    async def show(request: Request) -> Response:
        return HTMLResponse(f"<!doctype html><title>foreign</title><body>{body}")

    listener = free_socket()
    async with running(Starlette(routes=[Route("/", show)]), listener):
        yield listener.getsockname()[1]


def here(site: Site, path: str = "/") -> str:
    return f"http://localhost:{site.port}{path}"


async def sign_in(page: Page, site: Site) -> None:
    await page.goto(here(site, f"/login?code={site.access.new_code()}"))
    await expect(page).to_have_url(here(site))


@pytest.mark.req("R08")
@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
async def test_a_link_on_another_site_arrives_with_the_cookie(name: str) -> None:
    async with guarded() as site, browser_page() as page:
        await sign_in(page, site)
        async with foreign(f'<a href="{here(site, "/data?a=b")}">go</a>') as port:
            await page.goto(f"http://{name}:{port}/")
            await page.get_by_text("go").click()
            await expect(page).to_have_url(here(site, "/data?a=b"))
            await expect(page.locator("body")).to_contain_text("localhost")
            assert site.calls == ["GET /", "GET /data"]
            await page.go_back()
            await expect(page).to_have_title("foreign")


@pytest.mark.req("R08")
async def test_a_printed_link_works_from_another_site() -> None:
    async with guarded() as site, browser_page() as page:
        link = here(site, f"/login?code={site.access.new_code()}")
        async with foreign(f'<a href="{link}">go</a>') as port:
            await page.goto(f"http://127.0.0.1:{port}/")
            await page.get_by_text("go").click()
            await expect(page).to_have_url(here(site))
            await expect(page.locator("body")).to_contain_text("localhost")


@pytest.mark.req("R08")
async def test_the_token_can_be_pasted_into_the_page() -> None:
    async with guarded() as site, browser_page() as page:
        await page.goto(here(site, "/data"))
        await page.get_by_label("access token").fill("a wrong one")
        await page.get_by_role("button", name="Sign in").click()
        await expect(page.get_by_role("alert")).to_contain_text("isn't this server's access token")
        await page.get_by_label("access token").fill(TOKEN)
        await page.get_by_role("button", name="Sign in").click()
        await expect(page).to_have_url(here(site, "/data"))


ATTACK = """
<script>
  const base = "{base}";
  const swallow = promise => promise.catch(() => {{}});
  async function attack() {{
    for (const path of ["/", "/data", "/health", "/static/css/base.css"]) {{
      for (const mode of ["cors", "no-cors"]) {{
        for (const method of ["GET", "POST"]) {{
          const options = {{mode, method, credentials: "include"}};
          if (method === "POST") options.body = new URLSearchParams({{a: 1}});
          await swallow(fetch(base + path, options).then(answer => answer.text())
            .then(text => text && leaked.push(path)));
        }}
      }}
      navigator.sendBeacon(base + path, "x");
      for (const [tag, attribute] of [["img", "src"], ["script", "src"], ["iframe", "src"]]) {{
        const element = document.createElement(tag);
        const done = new Promise(end => element.onload = element.onerror = end);
        element[attribute] = base + path;
        document.body.append(element);
        await done;
      }}
    }}
    const source = new EventSource(base + "/data", {{withCredentials: true}});
    await new Promise(end => source.onerror = end);
    source.close();
    return leaked;
  }}
  const leaked = [];
</script>
"""


@pytest.mark.req("R05")
@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
async def test_a_foreign_page_reaches_no_view_and_reads_nothing(name: str) -> None:
    async with guarded() as site, browser_page(hostile=True) as page:
        await sign_in(page, site)
        site.calls.clear()
        async with foreign(ATTACK.format(base=here(site, ""))) as port:
            await page.goto(f"http://{name}:{port}/")
            assert await page.evaluate("attack()") == []
        assert site.calls == []
        await page.goto(here(site, "/data"))
        assert site.calls == ["GET /data"]


HEAD = f"""<!doctype html><html><head><title>page</title>
<meta name="htmx-config" content="{escape(CONFIG_JSON)}">
<script defer src="/static/vendor/htmx.min+hx-sse.min.js"></script></head>"""
BUTTONS = (
    '<body><div id="notice"></div><div id="box">as it was</div>'
    + "".join(
        f'<button hx-get="/answer/{name}" hx-target="#box" hx-push-url="true">{name}</button>'
        for name in ("good", "missing", "broken", "scripted")
    )
    + '<div hx-ignore><button hx-get="/data">ignored</button></div>'
    + '<button data-hx-get="/data">prefixed</button></body></html>'
)
SCRIPTED = (
    "<b>scripted</b><script>document.title='ran'</script>"
    "<i hx-get='/data' hx-trigger=\"load[document.title='ran']\"></i>"
    "<i hx-get='/data' hx-trigger='load' hx-vals=\"js:{a: document.title='ran'}\"></i>"
    "<img src='/none.png' hx-on:error=\"document.title='ran'\">"
)


async def show_buttons(request: Request) -> Response:
    return HTMLResponse(HEAD + BUTTONS)


async def answer(request: Request) -> Response:
    name = request.path_params["name"]
    if name == "missing":
        raise NotFound("no <i>such</i> thing")
    if name == "broken":
        raise RuntimeError("inside")
    return HTMLResponse(SCRIPTED if name == "scripted" else "<b>good</b>")


@pytest.mark.req("R12")
async def test_an_error_shows_as_a_notice_and_changes_nothing_else() -> None:
    routes = (Route("/buttons", show_buttons), Route("/answer/{name}", answer))
    async with guarded(*routes) as site, browser_page() as page:
        await sign_in(page, site)
        await page.goto(here(site, "/buttons"))
        for name, message in (("missing", "no <i>such</i> thing"), ("broken", "Error ID")):
            await page.get_by_role("button", name=name).click()
            await expect(page.locator("#notice")).to_contain_text(message)
            await expect(page.locator("#box")).to_have_text("as it was")
            await expect(page).to_have_url(here(site, "/buttons"))
        await page.get_by_role("button", name="good").click()
        await expect(page.locator("#box")).to_have_text("good")
        await expect(page).to_have_url(here(site, "/answer/good"))
        site.access.revoke()
        await page.get_by_role("button", name="good").click()
        await expect(page.locator("#notice")).to_contain_text("Signed out")


@pytest.mark.req("R15")
async def test_fenced_and_prefixed_attributes_do_nothing() -> None:
    async with guarded(Route("/buttons", show_buttons)) as site, browser_page() as page:
        await sign_in(page, site)
        await page.goto(here(site, "/buttons"))
        site.calls.clear()
        await page.get_by_role("button", name="ignored").click()
        await page.get_by_role("button", name="prefixed").click()
        await page.evaluate("fetch('/data')")
        assert site.calls == ["GET /data"]


@pytest.mark.req("R14")
async def test_scripts_in_swapped_text_do_not_run() -> None:
    routes = (Route("/buttons", show_buttons), Route("/answer/{name}", answer))
    async with guarded(*routes) as site, browser_page(hostile=True) as page:
        await sign_in(page, site)
        await page.goto(here(site, "/buttons"))
        async with page.expect_response("**/none.png"):
            await page.get_by_role("button", name="scripted").click()
        await expect(page.locator("#box b")).to_have_text("scripted")
        await page.evaluate("fetch('/data')")
        assert await page.title() == "page"
        assert await page.evaluate("htmx.config.inlineScriptNonce") is None
        assert await page.evaluate("[htmx.config.mode, htmx.config.prefix]") == ["same-origin", ""]


@pytest.mark.req("R62")
async def test_a_reader_reconnects_after_away_but_not_after_bye() -> None:
    streams, offsets = Streams(), []

    async def watch(request: Request) -> Response:
        return HTMLResponse(
            HEAD
            + '<body><div id="rows"></div><div hx-sse:connect="/stream" hx-sse:close="bye"'
            + ' hx-swap="none" hx-trigger="load"></div></body></html>'
        )

    async def rows(number: int) -> AsyncGenerator[Message, None]:
        text = f'<hx-partial hx-target="#rows" hx-swap="beforeend"><p>{number}</p></hx-partial>'
        yield Message(text, id=str(number), retry=1)
        if number == 1:
            await asyncio.Event().wait()

    async def stream(request: Request) -> Response:
        offsets.append(request.headers.get("last-event-id"))
        if len(offsets) > 2:
            raise Conflict("came back after bye")
        return stream_response(rows(len(offsets)), streams=streams)

    routes = (Route("/watch", watch), Route("/stream", stream))
    async with guarded(*routes) as site, browser_page() as page:
        await sign_in(page, site)
        await page.goto(here(site, "/watch"))
        await expect(page.locator("#rows")).to_have_text("1")
        streams.close(AWAY)
        await expect(page.locator("#rows")).to_have_text("12")
        await page.wait_for_function("() => !document.querySelector('[hx-swap]')._htmx?.sse")
    assert offsets == [None, "1"]
