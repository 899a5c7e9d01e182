"""What the server loads only when it is needed."""

import subprocess
import sys
from inspect import iscoroutinefunction

from devui.web import routes
from devui.web.later import Later
from tests.source import ROOT

NOT_AT_START = ("pydantic", "markdown_it", "pygments", "devui.web.presenters.workbench")


def test_every_route_has_its_view() -> None:
    tables = {name: value for name, value in vars(routes).items() if isinstance(value, Later)}
    source = (ROOT / "devui/web/routes.py").read_text(encoding="utf-8")
    for name, later in tables.items():
        asked = {word.partition(",")[0] for word in source.split(f", {name}.")[1:]}
        assert asked, name
        for view in asked:
            assert iscoroutinefunction(getattr(later.load(), view)), f"{name}.{view}"


def test_the_start_page_is_there_without_what_sessions_need() -> None:
    code = f"import devui.cli.web, sys; print([m for m in {NOT_AT_START!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
