"""`load_web_page`: what a page shows, of public hosts alone."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from devui.runtime.agents import LlmAgent
from devui.runtime.models import Call, Rule, Say, ScriptedLlm
from devui.runtime.tools.load_web_page import load_web_page, read_page
from tests.kit.conversation import Conversation

PAGE = """<html><head><title>The town of Bergen &amp; its rain</title>
<style>p { color: red; margin: 0 auto 1px 2px }</style>
<script>if (a < b) { no words to show }</script>
</head><body><nav><a href="/">Home</a> <a>News</a></nav>
<p>It rains on <b>two</b> hundred
days a year.</p><p>Take &eacute;n umbrella.<p>Menu</body>"""
SHOWN = "The town of Bergen & its rain\nIt rains on two hundred days a year."
ANSWERS = {
    "/page": (200, "text/html; charset=utf-8", PAGE.encode()),
    "/latin": (200, "text/html", "<meta charset=latin-1><p>a b c \u00e9".encode("latin-1")),
    "/odd": (200, "text/html; charset=no-such", "<p>a b c \u00e9".encode()),
    "/text": (200, "text/plain", b"as it is"),
    "/picture": (200, "image/png", b"png"),
    "/long": (200, "text/plain", b"x" * (10 * 1024 * 1024 + 1)),
    "/moved": (302, "text/html", b""),
    "/gone": (410, "text/html", b""),
}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status, kind, body = ANSWERS[self.path]
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if status == 302:
            self.send_header("Location", "https://elsewhere.example/")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def url():
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("path", "text"),
    [("/page", SHOWN), ("/latin", "a b c \u00e9"), ("/odd", "a b c \u00e9"), ("/text", "as it is")],
)
def test_the_text_that_a_page_shows_is_read(url, path, text):
    assert read_page(url + path, allow_private_network_access=True) == text


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/picture", "no text but image/png"),
        ("/long", "longer than"),
        ("/moved", "leads to https://elsewhere.example/"),
        ("/gone", "HTTP 410"),
    ],
)
def test_what_is_no_page_is_refused(url, path, why):
    with pytest.raises(ValueError, match=why):
        read_page(url + path, allow_private_network_access=True)


@pytest.mark.parametrize("address", ["file:///etc/hosts", "http://a:b", "http://", "nonsense"])
def test_what_is_no_address_is_told_to_the_model(address):
    assert load_web_page(address).startswith(f"Failed to fetch url: {address} (")


async def test_a_model_reaches_public_hosts_alone(url):
    rules = [Rule(after="load_web_page", then=Say("{result}"))]
    rules.append(Rule(then=Call("load_web_page", url=f"{url}/page")))
    root = LlmAgent(name="agent", model=ScriptedLlm(rules=rules), tools=[load_web_page])

    events = await Conversation(root).say("What does the page say?")

    [response] = events[1].get_function_responses()
    assert "private network" in response.response["result"]
