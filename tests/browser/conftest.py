"""One server of the samples and one browser for all tests here; each test has its own profile."""

import pytest

from devui.runtime.models.scripted_llm import SPEED_VARIABLE
from tests.kit.browser import Visit, chosen, cookies
from tests.kit.server import SAMPLES, running
from tests.kit.slow_summary import write_lingering

OURS = "tests/browser/"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Keep these tests together and last: Playwright's loop gets in the way of asyncio's tests."""
    items.sort(key=lambda item: item.nodeid.startswith(OURS))


@pytest.fixture(scope="package")
def browser():
    with chosen() as browser:
        yield browser


@pytest.fixture(scope="package")
def server(tmp_path_factory):
    data = tmp_path_factory.mktemp("browser") / "data"
    with running(SAMPLES, data, **{SPEED_VARIABLE: "5"}) as server:
        yield server


@pytest.fixture
def signed_in(browser, server):
    """The cookies of a browser signed in by the server's link; a module may have its own server."""
    return cookies(browser, server)


@pytest.fixture
def visit(browser, server, signed_in):
    with Visit(browser, server, storage_state=signed_in) as visit:
        yield visit


@pytest.fixture
def halting(browser, tmp_path):
    """A visit to a server with only the sample `summary`, and what releases its answers."""
    go = write_lingering(tmp_path / "agents")
    with (
        running(tmp_path / "agents", tmp_path / "data", "--no-auth") as started,
        Visit(browser, started) as begun,
    ):
        yield begun, go
