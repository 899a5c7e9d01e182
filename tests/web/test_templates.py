"""Templates and the models they belong to."""

import importlib
import pkgutil
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import html5lib
import pytest
from html5lib.html5parser import ParseError
from jinja2 import meta

from devui.web import panels
from devui.web.assets import Assets
from devui.web.basic_parts import Failure, Notice
from devui.web.panels.apps.parts import UnusedFile
from devui.web.panels.chat.parts import ToolOutcome
from devui.web.panels.inspector.parts import Hint
from devui.web.panels.timeline.parts import EventRow
from devui.web.render import Model, Renderer
from tests.kit.work import Work
from tests.web import compare_samples, gallery, samples, state_samples, travel_samples

RENDER = Renderer(Assets.find())
ENVIRONMENT = RENDER.environment
GLOBALS = set(ENVIRONMENT.globals)
BARE = ENVIRONMENT.overlay()
BARE.globals = {}  # otherwise, names of globals would not count as variables
PAGES = (
    gallery.app_pages()
    | gallery.side_pages()
    | gallery.live_pages()
    | gallery.selected_pages()
    | compare_samples.PAGES
)
HOSTILE = '<script>alert("1")</script>\'&amp;'


def model_types() -> Iterator[type[Model]]:
    """Yield every model with a template."""
    names = [module.name for module in pkgutil.walk_packages(panels.__path__, "devui.web.panels.")]
    for name in ("devui.web.basic_parts", "devui.web.openapi", *names):
        for kind in vars(importlib.import_module(name)).values():
            if isinstance(kind, type) and is_dataclass(kind) and "template" in vars(kind):
                yield kind


TYPES = sorted(set(model_types()), key=lambda kind: kind.template)


READ_OUTSIDE = {
    ToolOutcome: {"slot"},  # the element around it, which the chip renders
}
"""Fields that only the surrounding template reads."""


def variables(template: str, seen: frozenset[str] = frozenset()) -> set[str]:
    """Return the variables that a template reads, with the templates it includes and extends."""
    source, _, _ = ENVIRONMENT.loader.get_source(ENVIRONMENT, template)
    tree = BARE.parse(source)
    names = meta.find_undeclared_variables(tree)
    for other in meta.find_referenced_templates(tree):
        if other and other not in seen and not other.endswith("macros.html"):
            imported = f'import "{other}"' in source or f'from "{other}"' in source
            names |= set() if imported else variables(other, seen | {template})
    return names


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_a_template_reads_exactly_its_models_fields(kind: type[Model]) -> None:
    declared = {field.name for field in fields(kind)}
    read = variables(kind.template) | READ_OUTSIDE.get(kind, set())
    assert read - declared - GLOBALS == set(), "read, but not a field"
    assert declared - read == set(), "a field, but never read"


def test_every_template_has_a_model_or_is_part_of_another() -> None:
    inner = {"base.html", "macros.html", "parts/brand.html", "parts/icons.html"}
    inner |= {"parts/apps_stream.html", "parts/import_form.html", "parts/theme_toggle.html"}
    inner |= {
        "parts/state_values.html",
        "parts/secrets_shown.html",
        "parts/show_secrets.html",
        "parts/choose_editor.html",
        "parts/keys.html",
        "parts/tour.html",
        "palette/open.html",
        "palette/palette.html",
    }
    edge = {"pages/error.html", "pages/login.html", "pages/arrival.html", "parts/error_notice.html"}
    owned = {kind.template for kind in TYPES}
    assert set(ENVIRONMENT.list_templates()) - inner - edge == owned


def instances(value: object) -> Iterator[Model]:
    """Yield a model and every model inside it."""
    if isinstance(value, tuple):
        for item in value:
            yield from instances(item)
    elif is_dataclass(value) and not isinstance(value, type):
        if hasattr(value, "template"):
            yield value
        for field in fields(value):
            yield from instances(getattr(value, field.name))


def test_the_samples_include_every_part() -> None:
    seen = {type(model) for page in PAGES.values() for model in instances(page)}
    alone = {type(model) for model in gallery.alone()}
    assert set(TYPES) - seen - alone == set()


def strictly(html: str, *, page: bool) -> None:
    """Parse as HTML5; fail at the first error."""
    html = html.replace("hx-partial", "div").replace("<noscript>", "").replace("</noscript>", "")
    parser = html5lib.HTMLParser(strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            parser.parse(html) if page else parser.parseFragment(html)
        except ParseError as error:
            position = parser.tokenizer.stream.position()
            lines = html.splitlines()[max(0, position[0] - 3) : position[0] + 1]
            pytest.fail(f"{error} at {position}:\n" + "\n".join(lines))


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_html5(name: str) -> None:
    strictly(str(RENDER.part(PAGES[name])), page=True)


@pytest.mark.parametrize("model", gallery.alone(), ids=lambda model: type(model).__name__)
def test_fragments_are_html5(model: Model) -> None:
    strictly(str(RENDER.part(model)), page=False)


def hostile(value: object) -> object:
    """Return the model with every text in it replaced."""
    if isinstance(value, str):
        return HOSTILE
    if isinstance(value, tuple):
        return tuple(hostile(item) for item in value)
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changed = {field.name: hostile(getattr(value, field.name)) for field in fields(value)}
    return type(value)(**changed)


@pytest.mark.req("R17")
@pytest.mark.parametrize("name", PAGES)
def test_every_text_is_escaped(name: str) -> None:
    html = str(RENDER.part(hostile(PAGES[name])))
    assert "<script>alert" not in html
    assert "&lt;script&gt;" in html
    strictly(html, page=True)
    tree = html5lib.parse(html, namespaceHTMLElements=False)
    assert all("src" in script.attrib for script in tree.iter("script"))


@pytest.mark.req("R15")
def test_text_from_agents_is_inert() -> None:
    page = samples.session_page(
        travel_samples.travel(),
        panel=samples.inspector(state_samples.state_tab(11), "state", 11),
        selected=11,
    )
    tree = html5lib.parse(str(RENDER.part(page)), namespaceHTMLElements=False)
    inert = {
        id(inner) for outer in tree.iter() if "hx-ignore" in outer.attrib for inner in outer.iter()
    }
    texts = ("Heathrow", "find_airports", "LX 316", "DEADLINE_EXCEEDED", "FlightAgent →")
    for element in tree.iter():
        if element.tag not in ("title", "option") and element.text:
            assert not any(word in element.text for word in texts) or id(element) in inert


def test_a_page_without_scripts_still_has_links_and_forms() -> None:
    html = str(RENDER.part(PAGES["session-event"]))
    assert 'href="/sessions/7?event=5"' in html
    assert '<form class="composer" method="post" action="/sessions/7/runs"' in html


def test_row_ids_and_targets_of_the_stream_are_on_the_page() -> None:
    html = str(RENDER.part(PAGES["session-live"]))
    targets = ("rows", "live-rows", "messages", "live-chat", "run", "totals", "ticks", "title")
    for target in (*targets, "composer-state", "notice", "state-live", "e-3", "m-5"):
        assert f'id="{target}"' in html, target


def test_a_row_is_rendered_with_little_work() -> None:
    """A page has hundreds of parts; going through all globals for each would exceed the limit."""
    items = next(iter(gallery.selected_pages().values())).timeline.items
    row = next(item for item in items if isinstance(item, EventRow))
    RENDER.part(row)  # compiles its template
    Work(600).of(lambda: RENDER.part(row))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("define `root_agent` or `app`", "define <code>root_agent</code> or <code>app</code>"),
        ("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"),
        ("a lone ` stays", "a lone ` stays"),
        ("```\na fence\n```", "```\na fence\n```"),
    ],
)
def test_backticks_in_messages_enclose_code(text: str, html: str) -> None:
    failure, unused = Failure(f"{text}\n{text}"), UnusedFile("main", text)
    if "\n" not in text:
        assert f"<strong hx-ignore>{html}</strong>" in RENDER.part(failure)
    assert html in RENDER.part(failure)
    for part in (unused, Hint("Can't draw the app", text), Notice("warn", "Note", text)):
        assert html in RENDER.part(part), part
