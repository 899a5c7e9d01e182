"""Diagrams and pictures of other servers are drawn and loaded in sandboxed frames."""

import http.server
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.kit.browser import SessionPage, Visit, cookies
from tests.kit.server import make_session, running, write_app

pytestmark = pytest.mark.browser

AGENT = """
import asyncio
from pathlib import Path

from google.genai import types

from devui.runtime.agents import LlmAgent
from devui.runtime.models import BaseLlm, LlmResponse

HERE = Path(__file__).parent


def answer(text, partial):
    content = types.Content(role="model", parts=[types.Part(text=text)])
    return LlmResponse(content=content, partial=partial)


class Echo(BaseLlm):
    '''Repeats the message, or the pieces of `pieces`, each once a file has its number.'''

    async def generate_content_async(self, llm_request, stream=False):
        text = llm_request.contents[-1].parts[0].text
        if text != "pieces":
            yield answer(text, False)
            return
        pieces = (HERE / "pieces").read_text().split("|")
        for number, piece in enumerate(pieces):
            while not (HERE / str(number)).exists():
                await asyncio.sleep(0.02)
            yield answer(piece, True)
        while not (HERE / "end").exists():
            await asyncio.sleep(0.02)
        yield answer("".join(pieces), False)


root_agent = LlmAgent(name="echo", model=Echo(model="echo"))
"""


def fenced(*lines: str) -> str:
    return "\n".join(("```mermaid", *lines, "```"))


FLOW = fenced("graph TD", "  A[Ask] --> B[Answer]")
WIDE = fenced("sequenceDiagram", *(f"  P{n}->>P{n + 1}: message number {n}" for n in range(12)))
HOSTILE = fenced(
    '%%{init: {"securityLevel": "loose", "themeCSS": "@import url(http://HOST/evil-x.css);'
    ' * { background: url(http://HOST/evil-x.png) }"}}%%',
    "graph TD",
    '  A["<img src=http://HOST/evil-a.png onerror=parent.pwned=1>'
    '<script>parent.pwned=1</script><b onclick=parent.pwned=1>bold</b>"] --> B[plain]',
    '  click A href "javascript:parent.pwned=1"',
    '  click B href "http://HOST/evil-b" _top',
    "  click A call pwned()",
)
SCRIPTED = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='60' height='40' onload='parent.pwned=1'>"
    "<script>window.pwned=1;fetch('http://evil.example/')</script>"
    "<image href='http://evil.example/x.png' width='9' height='9'/>"
    "<rect width='60' height='40' fill='teal'/></svg>"
)
"""What a frame might answer if a text had taken it over."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("frames")
    write_app(root / "agents", "echo", AGENT)
    return root


@pytest.fixture(scope="module")
def server(folder):
    with running(folder / "agents", folder / "data") as server:
        yield server


@pytest.fixture
def visit(browser, server):
    with Visit(browser, server, storage_state=cookies(browser, server)) as visit:
        yield visit


def session_with(visit: Visit, text: str) -> SessionPage:
    """Open a session in which the agent has said the text."""
    return visit.session("echo", [text])


def picture_in(page: Page, where: str = "#m-2") -> Locator:
    """Return the picture of the diagram, which has been drawn."""
    picture = page.locator(f"{where} .diagram img")
    expect(picture).to_have_count(1)
    picture.evaluate("(image) => image.decode()")
    return picture


def requests_for(visit: Visit, pattern: str) -> list[str]:
    return [request for request in visit.requests if re.search(pattern, request)]


class Elsewhere(http.server.ThreadingHTTPServer):
    """Another origin, with a picture and a redirect to the same picture on another host."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Pictures)
        self.requests: list[tuple[str, set[str]]] = []
        """The path of each request, and the names of its headers."""


class Pictures(http.server.BaseHTTPRequestHandler):
    server: Elsewhere

    def do_GET(self) -> None:
        self.server.requests.append((self.path, {name.lower() for name in self.headers}))
        has_moved = self.path == "/moved"
        self.send_response(302 if has_moved else 200)
        if has_moved:
            self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/cat.svg")
        self.send_header("Content-Type", "image/svg+xml")
        self.send_header("Set-Cookie", "tracked=yes")
        self.end_headers()
        self.wfile.write(b"<svg xmlns='http://www.w3.org/2000/svg' width='80' height='50'/>")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def elsewhere() -> Iterator[tuple[str, list[tuple[str, set[str]]]]]:
    """Serve pictures at another origin; yield its host and the requests that it gets."""
    with Elsewhere() as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        yield f"localhost:{site.server_port}", site.requests
        site.shutdown()


def allow(visit: Visit, *names: str) -> None:
    """Accept requests for these pictures, and that a frame runs no script of Playwright.

    Playwright also reports requests that the policy blocks before they are sent.
    """
    visit.allow(rf"^request to another origin: http://[\w.]+:\d+/({'|'.join(names)})")
    visit.allow("^console error: Blocked script execution in .*/frames/picture")


def test_a_diagram_is_a_picture_with_its_source_at_hand(visit):
    page = session_with(visit, FLOW).page
    picture = picture_in(page)
    width, height = picture.evaluate("(image) => [image.naturalWidth, image.naturalHeight]")
    assert 40 < width < 400
    assert height > width
    source, button = page.locator("#m-2 pre"), page.get_by_role("button", name="Show source")
    expect(source).to_be_hidden()
    button.focus()
    page.keyboard.press("Enter")
    expect(source).to_have_text("graph TD\n  A[Ask] --> B[Answer]\n")
    expect(picture).to_be_hidden()
    page.get_by_role("button", name="Show diagram").click()
    expect(picture).to_be_visible()
    expect(source).to_be_hidden()
    expect(page.get_by_role("button", name="Full size")).to_be_hidden()  # it fits


def test_nothing_is_fetched_for_diagrams_until_one_comes_into_view(visit):
    session = visit.session("echo", ["no diagram", "word " * 4000, FLOW])
    page = session.page
    picture_in(page, "#m-6")
    assert len(requests_for(visit, "frames/diagram.html")) == 1
    visit.requests.clear()
    plain = session_with(visit, "no diagram")
    expect(plain.messages).to_have_count(2)
    above = visit.session("echo", [FLOW, *["word " * 2000] * 3])
    expect(above.messages.last).to_be_in_viewport()
    above.page.wait_for_timeout(500)
    assert not requests_for(visit, "frames/diagram.html")
    above.page.locator("#m-2").scroll_into_view_if_needed()
    picture_in(above.page)


def test_a_wide_diagram_fits_and_can_be_seen_in_full_size(visit):
    session = session_with(visit, WIDE)
    page = session.page
    picture = picture_in(page)
    full = picture.evaluate("(image) => image.naturalWidth")
    pane = page.locator("#m-2").evaluate("(box) => box.clientWidth")
    assert picture.evaluate("(image) => image.clientWidth") <= pane < full
    page.get_by_role("button", name="Full size").click()
    assert picture.evaluate("(image) => image.clientWidth") == full
    assert page.locator("#m-2 .canvas").evaluate("(box) => box.clientWidth") <= pane
    assert session.fits()
    page.get_by_role("button", name="Fit to width").click()
    assert picture.evaluate("(image) => image.clientWidth") <= pane


def test_a_diagram_has_the_colors_of_the_theme(visit):
    page = session_with(visit, FLOW).page
    page.emulate_media(color_scheme="light")
    light = picture_in(page).get_attribute("src")
    page.emulate_media(color_scheme="dark")
    expect(page.locator("#m-2 .diagram img")).not_to_have_attribute("src", light or "")
    page.get_by_role("button", name="Switch between light and dark").click()
    expect(page.locator("#m-2 .diagram img")).to_have_attribute("src", light or "")
    assert len(requests_for(visit, "frames/diagram.html")) == 1


def test_a_diagram_is_drawn_once_its_fence_is_closed(visit, folder):
    here = folder / "agents" / "echo"
    (here / "pieces").write_text("Look:\n\n```mermaid\ngraph TD\n|  A --> B\n|```\n\nand |so on.")
    session = visit.session("echo")
    session.send("pieces")
    live = session.page.locator("#live-chat .msg.live")
    for number in (0, 1):
        (here / str(number)).touch()
        expect(live.locator("pre")).to_contain_text(("graph TD", "A --> B")[number])
        expect(live.locator(".diagram")).to_have_count(0)
    (here / "2").touch()
    picture = live.locator(".diagram img")
    expect(picture).to_be_visible()
    (here / "3").touch()
    expect(live).to_contain_text("and so on.")
    expect(picture).to_be_visible()
    expect(live.locator("pre")).to_be_hidden()
    (here / "end").touch()
    session.ends()
    expect(session.page.locator("#m-2 .diagram img")).to_be_visible()
    session.equals(visit.again(session), "#messages")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (fenced("graph TD", "  A --"), "Parse error on line"),
        (fenced("no such diagram"), "No diagram type detected"),
        (fenced("graph TD", "  %% " + "x" * 20_000), "it has more than 20,000 characters"),
    ],
)
def test_a_text_that_is_no_diagram_stays_and_says_why(visit, text, reason):
    page = session_with(visit, text).page
    expect(page.locator("#m-2 .undrawn")).to_contain_text(f"Mermaid can't draw this: {reason}")
    expect(page.locator("#m-2 pre")).to_be_visible()
    expect(page.locator("#m-2 .diagram button:not(.copy-code)")).to_have_count(0)


@pytest.mark.req("R16")
@pytest.mark.req("R19")
def test_a_hostile_diagram_runs_links_and_loads_nothing(visit):
    visit.allow(r"^console error: .*(Content Security Policy|CSP: (img|script|style)-src)")
    visit.allow("^console warning: @import rules are not allowed here")
    allow(visit, "evil")
    with elsewhere() as (host, requests):
        session = session_with(visit, HOSTILE.replace("HOST", host))
        page = session.page
        picture = picture_in(page)
        assert not page.locator("#m-2 .diagram").evaluate("(box) => box.querySelector('svg, a')")
        picture.click()
        page.wait_for_timeout(300)
        assert page.evaluate("window.pwned") is None
        assert not requests
        assert session.path in page.url
        assert [each.url for each in page.context.pages] == [page.url]


@pytest.mark.req("R13")
def test_the_frame_has_no_access_to_the_page_the_server_or_the_network(visit):
    visit.allow(r"Content Security Policy|^console error: CSP: |^console error: Access to fetch")
    page = session_with(visit, FLOW).page
    picture_in(page)
    (frame,) = (each for each in page.frames if "frames/diagram.html" in each.url)
    assert frame.evaluate("self.origin") == "null"
    for act in ("parent.document", "document.cookie", "localStorage", "parent.location.href"):
        assert frame.evaluate(f"() => {{ try {{ {act}; }} catch (e) {{ return e.name }} }}") == (
            "SecurityError"
        ), act
    visit.requests.clear()
    for address in (visit.server.url + "/api/sessions", "http://evil.example/"):
        assert (
            frame.evaluate(f"fetch({address!r}).then(() => 'read', (e) => e.name)") == "TypeError"
        )
    assert not visit.requests
    element = page.locator("iframe.renderer")
    assert element.get_attribute("sandbox") == "allow-scripts"
    expect(element).not_to_be_in_viewport()


@pytest.mark.req("R16")
def test_whatever_the_frame_answers_is_only_a_picture(visit):
    escaped = SCRIPTED.replace("</", "<\\/")
    rogue = f"""<!doctype html><script>
      addEventListener("message", ({{ data }}) => parent.postMessage(
        {{ id: data.id, svg: `{escaped}`, width: 60, height: 40, title: "<b>bold</b>" }}, "*"));
    </script>"""
    session = visit.session("echo", ["ready"])
    session.page.route("**/frames/diagram.html", lambda route: route.fulfill(body=rogue))
    session.say(FLOW)
    picture = picture_in(session.page, "#m-4")
    assert picture.evaluate("(image) => image.naturalWidth") == 60
    expect(picture).to_have_attribute("alt", "Diagram: <b>bold</b>")
    session.page.wait_for_timeout(300)
    assert session.page.evaluate("window.pwned") is None
    assert not requests_for(visit, "evil")


@pytest.mark.slow
def test_a_diagram_that_keeps_the_frame_busy_is_given_up_and_the_next_is_drawn(visit):
    session = visit.session("echo", ["ready"])
    page = session.page
    page.route("**/frames/diagram.html", lambda route: route.fulfill(body="<!doctype html>"))
    session.say(fenced("graph LR", "  slow --> slower"))
    expect(page.locator("#m-4 .undrawn")).to_contain_text("it takes longer than 10 seconds")
    page.unroute("**/frames/diagram.html")
    session.say(FLOW)
    picture_in(page, "#m-6")


def test_the_inspector_draws_diagrams_too(visit):
    session = session_with(visit, FLOW)
    session.select(2)
    picture_in(session.page, "#panel")


@pytest.mark.req("R19")
def test_a_picture_is_loaded_from_its_host_once_someone_asks(visit):
    allow(visit, "cat")
    with elsewhere() as (host, requests):
        session = session_with(
            visit, f"![a cat](http://{host}/cat.svg) and ![more](http://{host}/two.svg)"
        )
        page = session.page
        load = page.locator("#m-2").get_by_role("button", name=f"Load picture from {host}")
        expect(load).to_have_count(2)
        assert not requests
        load.first.click()
        frame = page.locator("#m-2 iframe")
        expect(frame).to_have_attribute("title", f"Picture from {host}")
        assert frame.get_attribute("sandbox") == ""
        inside = page.frame_locator("#m-2 iframe").locator("img")
        expect(inside).to_have_js_property("naturalWidth", 80)
        ((path, headers),) = requests
        assert path == "/cat.svg"
        assert not {"referer", "cookie", "origin"} & headers
        hide = page.get_by_role("button", name="Hide picture")
        expect(hide).to_be_focused()
        hide.click()
        expect(frame).to_have_count(0)
        expect(load).to_have_count(2)
        page.reload()
        expect(load).to_have_count(2)
        link = page.get_by_role("link", name="a cat")
        expect(link).to_have_attribute("href", f"http://{host}/cat.svg")
        assert len(requests) == 1


@pytest.mark.req("R19")
def test_a_picture_that_an_event_refers_to_is_loaded_in_the_same_way(visit):
    allow(visit, "cat")
    with elsewhere() as (host, requests), visit.server.client() as client:
        file = {"fileUri": f"http://{host}/cat.svg", "mimeType": "image/svg+xml"}
        content = {"role": "model", "parts": [{"fileData": file}]}
        event = {"author": "echo", "invocationId": "e-1", "content": content}
        named = make_session(client, "echo", events=[event])["id"]
        query = {"app": "echo", "user": "u", "id": named}
        key = client.get("/api/sessions", params=query).json()["sessions"][0]["key"]
        page = visit.open(f"/sessions/{key}")
        page.locator("#m-1").get_by_role("button", name=f"Load picture from {host}").click()
        inside = page.frame_locator("#m-1 iframe").locator("img")
        expect(inside).to_have_js_property("naturalWidth", 80)
        assert [path for path, _ in requests] == ["/cat.svg"]


@pytest.mark.req("R19")
def test_a_picture_that_moved_to_another_host_is_not_loaded(visit):
    allow(visit, "moved", "cat")
    visit.allow(r"^console error: .*(Content Security Policy|CSP: img-src)")
    with elsewhere() as (host, requests):
        page = session_with(visit, f"![a cat](http://{host}/moved)").page
        page.locator("#m-2 .load-picture").click()
        inside = page.frame_locator("#m-2 iframe").locator("img")
        expect(inside).to_have_js_property("complete", True)
        expect(inside).to_have_js_property("naturalWidth", 0)
        assert {path for path, _ in requests} == {"/moved"}


def test_without_scripts_there_is_code_and_a_link(browser, server, visit):
    session = session_with(visit, f"{FLOW}\n\n![a cat](https://cats.example/cat.png)")
    state = cookies(browser, server)
    with Visit(browser, server, storage_state=state, java_script_enabled=False) as plain:
        page = plain.open(session.path)
        expect(page.locator("#m-2 pre")).to_be_visible()
        expect(page.get_by_role("link", name="a cat")).to_be_visible()
        expect(page.locator("#m-2 .load-picture")).to_be_hidden()


def test_an_exported_file_has_code_and_links(visit, tmp_path):
    session = session_with(visit, f"{FLOW}\n\n![a cat](https://cats.example/cat.png)")
    page = session.page
    picture_in(page)
    exported = page.request.get(f"{visit.server.url}/api{session.path}/export?format=html")
    (tmp_path / "file.html").write_bytes(exported.body())
    visit.allow("request to another origin: file:.*/file.html$")
    page.goto((tmp_path / "file.html").as_uri())
    expect(page.locator("#m-2 pre")).to_contain_text("A[Ask] --> B[Answer]")
    expect(page.locator("#m-2").get_by_role("link", name="a cat")).to_be_visible()
    expect(page.locator("#m-2 .load-picture")).to_be_hidden()
    assert not page.locator("iframe").count()
