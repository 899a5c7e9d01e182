"""Rules for every test: no network, and no deadline that a busy machine would miss."""

import gc
import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import certifi
import hypothesis
import pytest

from tests.changed import LEFT_OUT, Selection, changed_paths, selection
from tests.source import ROOT

SAMPLES = ROOT / "agents"

LOOPBACK = ("127.", "::1", "localhost", "0.0.0.0")


# Modules and collected tests are never garbage. Scanning them again and again, as Python does by
# default, takes an eighth of the CPU time of tests that run in this process.
gc.set_threshold(20_000, 20, 1000)


def pytest_collection_finish() -> None:
    """Exclude everything that exists by now from garbage collection."""
    gc.freeze()


def refuse_network(event: str, args: tuple[Any, ...]) -> None:
    """Keep tests from reaching another machine; child processes aren't watched."""
    if event == "socket.connect":
        address = args[1]
        host = str(address[0]) if isinstance(address, tuple) else ""
    elif event == "socket.getaddrinfo":
        host = str(args[0] or "")
    else:
        return
    if host and not host.startswith(LOOPBACK):
        pytest.fail(f"a test tried to reach {host!r}; tests run without a network")


sys.addaudithook(refuse_network)


def samples() -> dict[str, str]:
    """Return a hash of each file of the sample agents by path, without Python's caches."""
    return {
        str(path.relative_to(SAMPLES)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in SAMPLES.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="session", autouse=True)
def _no_server_writes_among_the_agents() -> Iterator[None]:
    """The sample agents stay as they are, whatever tests do to servers on them (R33)."""
    before = samples()
    yield
    assert samples() == before, "the sample agents were changed while the tests ran"


@pytest.fixture(scope="session", autouse=True)
def _keys_of_servers_are_not_among_those_of_the_user(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_certificate_is_enough(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each new HTTP client reads all of Mozilla's certificates, which no local server needs."""
    end = "-----END CERTIFICATE-----\n"
    first, _, _ = Path(certifi.where()).read_text(encoding="utf-8").partition(end)
    file = tmp_path_factory.mktemp("certificates") / "one.pem"
    file.write_text(first + end, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
        yield


hypothesis.settings.register_profile("devui", deadline=None)
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("devui")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fast", action="store_true", help="run what a change needs, in three minutes at most"
    )


@cache
def chosen() -> Selection:
    """Return what `--fast` runs."""
    return selection(changed_paths())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore, with `--fast`, the files that no change calls for."""
    if not config.getoption("--fast") or collection_path.suffix != ".py":
        return None
    path = collection_path.relative_to(ROOT).as_posix()
    return None if chosen().has_file(path) else True


LONG = [
    f"tests/{name}.py"
    for name in (
        "differential/test_differential",
        "engines/test_configured",
        "faults/test_many_kills",
        "cli/test_run",
        "faults/test_limits",
        "runtime/test_long_sessions",
    )
]
"""The files that take longest. They start first, so that no process is left alone with one.

None of them drives a browser: asyncio's tests can't follow Playwright's loop in one process.
"""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the longest files first, and deselect, with `--fast`, the tests that take long."""
    places = {path: place for place, path in enumerate(LONG)}
    names: dict[Path, str] = {}  # a file has many items, and paths take long to compute

    def path(item: pytest.Item) -> str:
        if item.path not in names:
            names[item.path] = item.path.relative_to(ROOT).as_posix()
        return names[item.path]

    items.sort(key=lambda item: places.get(path(item), len(LONG)))
    if config.getoption("--fast"):
        left_out = [
            item
            for item in items
            if any(map(item.get_closest_marker, LEFT_OUT)) and not chosen().wants_all_of(path(item))
        ]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
