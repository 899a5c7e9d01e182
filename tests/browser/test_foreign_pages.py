"""A page of another origin, in a signed-in browser, can't read any route (R05)."""

import functools
import http.server
import threading

import pytest

from tests.api.test_trust import reading
from tests.kit.debugged_run import DebuggedRun

pytestmark = [pytest.mark.browser, pytest.mark.req("R05")]

ATTACK = r"""
async ([base, paths]) => {
  const leaked = [], globals = new Set(Object.keys(window));
  const load = (tag, attribute, url) => new Promise((end) => {
    const element = document.createElement(tag);
    element.onload = element.onerror = () => end(element);
    element[attribute] = url;
    document.body.append(element);
  });
  const told = (how, path, what) => what && leaked.push(`${how} ${path}: ${what}`);
  const tries = async (path) => {
    for (const mode of ["cors", "no-cors"]) {
      const stop = AbortSignal.timeout(20000);
      const asked = fetch(base + path, {mode, credentials: "include", signal: stop});
      told(mode, path, await asked.then((answer) => answer.text()).catch(() => ""));
    }
    told("img", path, (await load("img", "src", base + path)).naturalWidth);
    await load("script", "src", base + path);
    const frame = await load("iframe", "src", base + path);
    let inside = null;
    try { inside = frame.contentDocument; } catch { }
    told("iframe", path, inside && inside.body.innerText);
    const source = new EventSource(base + path, {withCredentials: true});
    source.onopen = source.onmessage = () => told("events", path, "opened");
    await new Promise((end) => { source.onerror = end; });
    source.close();
  };
  await Promise.all(paths.map(tries));
  const fresh = Object.keys(window).filter((name) => !globals.has(name) && !/^\d+$/.test(name));
  return [...leaked, ...fresh];
}
"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>a page</title><body>")

    def log_message(self, *_):
        pass


@pytest.fixture
def foreign():
    """The port of another program on this machine."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Page)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_a_page_of_another_origin_cannot_read_any_route(visit, server, foreign, name):
    visit.allow("")
    with server.client() as client:
        debugged = DebuggedRun(client, "travel").start("Find me a flight to London", pause=False)
        debugged.settled()
        paths = reading(debugged)
    page = visit.context.new_page()
    page.goto(f"http://{name}:{foreign}/")
    assert page.evaluate(ATTACK, [server.url, paths]) == []
    home = visit.open(f"/sessions/{debugged.key}")
    assert home.title().endswith("devui")
