"""JavaScript modules joined into one file, compared in a browser with the separate modules."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route

from devui.web.joining import CannotJoin, join_modules
from tests.kit.browser import chromium
from tests.kit.patience import PATIENCE
from tests.source import ROOT

FILES = {
    "js/page.js": """
import { add as plus, told } from "./sums.js";
import * as names from "./names.js";
import "./effect.js";
const add = 1;  // a name of its own
window.found = [plus(add, 2), told, names.first, names.second, names.later(), window.effect];
""",
    "js/sums.js": """
import { first } from "../js/names.js";
export function add(a, b) { return a + b; }
export const told = `import ${first} from here`;
window.order = [...(window.order ?? []), "sums"];
""",
    "js/names.js": """
import "./effect.js";
export const { first, second } = { first: "one", second: "two" };
export function later() { return value; }
const value = "three";
window.order = [...(window.order ?? []), "names"];
""",
    "js/effect.js": "window.effect = (window.effect ?? 0) + 1;\n",
}
"""Modules with every supported form of import and export."""

ORIGIN = "http://modules.test/"


def of(texts: dict[str, str]) -> dict[str, bytes]:
    return {path: text.lstrip("\n").encode() for path, text in texts.items()}


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with chromium() as browser:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE * 1000)
        yield page


def run(page: Page, files: dict[str, bytes]) -> list[object]:
    """Return what `js/page.js` leaves in the page's window, and which paths were requested."""
    paths: list[str] = []

    def serve(route: Route) -> None:
        path = route.request.url.removeprefix(ORIGIN)
        paths.append(path)
        html = "<link rel=icon href=data:,><script type=module src=/js/page.js></script>"
        if not path:
            route.fulfill(body=html, content_type="text/html")
        else:
            route.fulfill(body=files[path], content_type="text/javascript")

    page.unroute_all()
    page.route(f"{ORIGIN}**", serve)
    page.goto(ORIGIN, wait_until="load")
    return [page.evaluate("[window.found, window.order]"), sorted(paths)]


@pytest.mark.browser
def test_joined_modules_do_the_same_as_separate_ones(page: Page) -> None:
    apart, paths = run(page, of(FILES))
    assert paths == ["", *sorted(FILES)]
    assert apart == [[3, "import one from here", "one", "two", "three", 1], ["names", "sums"]]
    whole = {"js/page.js": join_modules("js/page.js", of(FILES)).encode()}
    assert run(page, whole) == [apart, ["", "js/page.js"]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('import a from "./a.js";', 'import a from "./a.js";'),
        ('import { a } from "/a.js";', 'import { a } from "/a.js";'),
        ('const a = await import("./a.js");', 'import("./a.js");'),
        ("export default 1;", "export default 1;"),
        ("export let a = 1;", "export let a = 1;"),
        ("const a = 1;\nexport { a };", "export { a };"),
        ('export * from "./a.js";', 'export * from "./a.js";'),
    ],
)
def test_unsupported_imports_and_exports_are_refused(text: str, problem: str) -> None:
    with pytest.raises(CannotJoin, match=re.escape(f"js/page.js: {problem}")):
        join_modules("js/page.js", of({"js/page.js": text, "js/a.js": ""}))


def test_modules_that_import_each_other_are_refused() -> None:
    files = of({"a.js": 'import "./b.js";', "b.js": 'import * as a from "./a.js";'})
    with pytest.raises(CannotJoin, match=re.escape("each other: a.js → b.js → a.js")):
        join_modules("a.js", files)


def test_all_modules_of_the_pages_can_be_joined() -> None:
    paths = [path.relative_to(ROOT / "static") for path in (ROOT / "static/js").rglob("*.js")]
    files = {path.as_posix(): (ROOT / "static" / path).read_bytes() for path in paths}
    assert len(files) > 30
    for path in files:
        names = re.findall(r"^const (\S+) = \(\(\) =>", join_modules(path, files), re.MULTILINE)
        assert len(names) == len(set(names)), json.dumps(names)
