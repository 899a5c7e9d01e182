"""Markdown is rendered as harmless HTML, with a bounded amount of work."""

import asyncio
import random
import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from devui.web.text import formulas, highlighting, markdown
from devui.web.text.markdown import ALLOWANCE, MAX_CHARACTERS, prepare, to_html
from devui.web.text.step_budget import StepBudget
from tests.kit.work import Work

ROOT = Path(__file__).parents[2]

TAGS = {
    *("a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr"),
    *("li", "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead"),
    *("tr", "ul", "button", "div", "input"),
    *("math", "menclose", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot"),
    *("mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd"),
    *("mtext", "mtr", "munder", "munderover"),
}
OURS = {
    "button": [
        {"class": "copy-code", "type": "button", "data-copy-code": ""},
        {"class": "load-picture", "type": "button"},
    ],
    "input": [{"type": "checkbox", "disabled": ""}],
}
"""Elements that only the renderer creates, with the attributes that each of them may have."""
ATTRIBUTES = {"href", "title", "rel", "target", "class", "start"}
ATTRIBUTES |= {"aria-label", "checked", "data-copy-code", "data-load-picture", "disabled", "role"}
ATTRIBUTES |= {"tabindex", "type"}
ATTRIBUTES |= set().union(*formulas.ATTRIBUTES.values())
ATTACKS = [
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>"),
    *(
        "<iframe srcdoc='<script>1</script>'>",
        "<a href='javascript:alert(1)'>x</a>",
        "</div></div>",
    ),
    *("[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](&#106;avascript:alert(1))"),
    *("[x](java\tscript:alert(1))", "[x](data:text/html,<script>)", "[x](vbscript:msgbox)"),
    *("[x](//evil.example)", "[x](/runs/1/stop)", "[x](?a=b)", "[x](#id)", "[x](\\\\evil)"),
    *("![x](http://evil.example/beacon.png)", "![x](javascript:alert(1))", '![a"b](http://x/\'">)'),
    *("[x]: javascript:alert(1)\n\n[x]", "<javascript:alert(1)>", "<http://a.example/?\"'>"),
    *("[x](http://a.example \"' onmouseover=alert(1) '\")", "[x](http://a.example/<b>)"),
    *('```"><script>alert(1)</script>\nx\n```', "```python onload=alert(1)\n<b>\n```"),
    *(
        "<div hx-get=/runs hx-trigger=load>x</div>",
        "<div data-hx-post='/x'>",
        "<hx-partial hx-target='#rows'>",
    ),
    *("<form action=/x><button formaction=/y>", "<base href=//evil>", "<meta http-equiv=refresh>"),
    *("<style>*{}</style>", "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>"),
    *("<!--><img src=x onerror=alert(1)>-->", "<![CDATA[<script>]]>", "<?php ?>", "{{7*7}}{% x %}"),
    *("<template><script>alert(1)</script></template>", "<noscript><p title='</noscript><img>'>"),
    *("| a |\n|:-:|\n| <img src=x> |", "# <script>x</script>", "- <object data=x>", "> <embed>"),
    *("$\\text{<script>alert(1)</script>}$", "$\\href{javascript:alert(1)}{x}$"),
    *(
        "$$\\style{background:url(//evil)}{x}$$",
        "\\[\\text{</math><img src=x onerror=alert(1)>}\\]",
    ),
    *("- [x] <input type=image src=x>", "- [ ](javascript:alert(1))", "$\\def\\a{\\a\\a}\\a$"),
    *("a\0b<scr\0ipt>", "\ufeff<script>", "\u202etxt.exe", "<scr<script>ipt>", "&lt;script&gt;"),
    *("**<b onclick=x>**", "`<img onerror=x>`", "~~<i>~~", "<a@b.example>", "ftp://x.example"),
]


def elements(html: str) -> list[Any]:
    """Return every element, as a browser's parser would build it."""
    tree = html5lib.parseFragment(html, namespaceHTMLElements=False)
    nodes = [node for node in tree.iter() if isinstance(node.tag, str) and node is not tree]
    for node in nodes:
        node.tag = node.tag.removeprefix("{http://www.w3.org/1998/Math/MathML}")
    return nodes


def check_inert(html: str) -> None:
    for element in elements(f"<div>{html}</div>")[1:]:
        assert element.tag in TAGS
        assert set(element.attrib) <= ATTRIBUTES
        address = element.attrib.get("href", "http://")
        assert address.startswith(("http://", "https://", "mailto:"))
        picture = element.attrib.get("data-load-picture", "http://")
        assert picture.startswith(("http://", "https://"))
        kinds = OURS.get(element.tag, [{}])
        assert any(kind.items() <= element.attrib.items() for kind in kinds)
        if element.tag == "a":
            assert element.attrib["rel"] == "noopener noreferrer nofollow"
        if "class" in element.attrib:
            allowed = highlighting.CLASSES | {"highlight", "align-left", "align-center"}
            allowed |= {"code", "code diagram", "copy-code", "load-picture", "table", "todo"}
            assert element.attrib["class"] in allowed | {"align-right"}


@pytest.mark.req("R16")
@pytest.mark.req("R18")
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_rendered_inert(attack: str) -> None:
    check_inert(to_html(attack))
    check_inert(to_html(f"text {attack} text\n\n{attack}"))
    check_inert(to_html(f"```python\n{attack}\n```"))


@pytest.mark.req("R16")
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_cannot_close_the_element_around_it(attack: str) -> None:
    fence = f"<section>{to_html(attack)}</section><p></p>"
    tree = html5lib.parseFragment(fence, namespaceHTMLElements=False)
    assert [node.tag for node in tree] == ["section", "p"]


@pytest.mark.req("R16")
@given(st.lists(st.sampled_from(ATTACKS) | st.text(max_size=20), max_size=5).map("".join))
def test_any_mixture_of_attacks_is_rendered_inert(text: str) -> None:
    check_inert(to_html(text))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**bold** and *soft*", "<p><strong>bold</strong> and <em>soft</em></p>"),
        ("a\nb", "<p>a\nb</p>"),
        ("`x < y`", "<p><code>x &lt; y</code></p>"),
        ("3. c", '<ol start="3">\n<li>c</li>\n</ol>'),
        ("~~old~~", "<p><s>old</s></p>"),
        ("# Top", "<h1>Top</h1>"),
        ("", ""),
        ("costs $5 and $6, US$7", "<p>costs $5 and $6, US$7</p>"),
        ("`$x$` and \\$x$", "<p><code>$x$</code> and $x$</p>"),
        ("$\\left($", "<p><code>\\left(</code></p>"),
        ("[x] no task", "<p>[x] no task</p>"),
        (
            "- [ ] *a*\n- [X] b",
            (
                '<ul>\n<li class="todo"><input type="checkbox" disabled="" aria-label="To do">'
                ' <em>a</em></li>\n<li class="todo"><input type="checkbox" disabled="" checked=""'
                ' aria-label="Done"> b</li>\n</ul>'
            ),
        ),
    ],
)
def test_ordinary_markdown_is_rendered(text: str, html: str) -> None:
    assert to_html(text).strip() == html


def test_a_link_opens_a_new_tab_and_sends_no_referrer() -> None:
    (link,) = [e for e in elements(to_html("[x](https://a.example/?q=1)")) if e.tag == "a"]
    assert link.attrib == {
        "href": "https://a.example/?q=1",
        "rel": "noopener noreferrer nofollow",
        "target": "_blank",
    }


@pytest.mark.req("R19")
def test_a_picture_is_shown_as_a_link() -> None:
    html = to_html("![a cat](https://a.example/cat.png)")
    assert "<img" not in html
    assert ">a cat</a>" in html
    assert ">image</a>" in to_html("![](https://a.example/cat.png)")


def test_a_picture_has_a_button_that_names_its_host() -> None:
    html = to_html("![a cat](https://A.example:8443/cat.png)")
    assert ">a cat</a> <button" in html
    assert ">Load picture from a.example:8443</button>" in html
    assert "button" not in to_html("![a cat](https://you@a.example/cat.png)")
    assert "button" not in to_html("![a cat](mailto:cat@a.example)")


def test_a_picture_within_a_link_comes_after_it() -> None:
    html = to_html("[![built](https://a.example/b.svg) *now*](https://b.example) [c](http://c.d)")
    links = [node for node in elements(html) if node.tag == "a"]
    assert [(link.attrib["href"], "".join(link.itertext())) for link in links] == [
        ("https://b.example", "built now"),
        ("https://a.example/b.svg", "image"),
        ("http://c.d", "c"),
    ]
    assert html.count("Load picture from a.example</button>") == 1


@pytest.mark.parametrize(
    ("text", "is_diagram"),
    [
        ("```mermaid\ngraph TD\n```", True),
        ("~~~~ Mermaid wide\ngraph TD\n\n~~~~~", True),
        ("> ```mermaid\n> graph TD\n> ```", True),
        ("```mermaid\ngraph TD", False),
        ("```mermaid\ngraph TD\n\n", False),
        ("> ```mermaid\n> graph TD\n\nmore", False),
        ("```mermaid\n```", False),
        ("```python\ngraph TD\n```", False),
    ],
)
def test_a_mermaid_block_is_a_diagram_once_it_is_closed(text: str, *, is_diagram: bool) -> None:
    html = to_html(text)
    assert ('<div class="code diagram">' in html) == is_diagram
    assert '<pre class="highlight"><code>' in html


def test_cells_are_aligned_by_class() -> None:
    html = to_html("| a | b |\n|:-:|--:|\n| 1 | 2 |")
    assert '<td class="align-center">1</td>' in html
    assert '<th class="align-right">b</th>' in html
    assert "style" not in html


@pytest.mark.parametrize(
    ("text", "display", "words"),
    [
        ("so $x^2$ is", "inline", "so x2 is"),
        ("so \\(x<y\\) is", "inline", "so x<y is"),
        ("so $$x$$ is", "block", "so x is"),
        ("$$\nx\n+ y\n- z\n$$\nthen", "block", "x+y\u2212zthen"),
        ("> \\[\n> x\n> - y\n> \\]\n> then", "block", "x\u2212ythen"),
        ("1. so\n\n   $$x$$", "block", "sox"),
        ("costs \\$5: $a\\$b$", "inline", "costs $5: a$b"),
    ],
)
def test_a_formula_is_drawn_as_mathml(text: str, display: str, words: str) -> None:
    nodes = elements(f"<main>{to_html(text)}</main>")
    (formula,) = (node for node in nodes if node.tag == "math")
    assert formula.attrib == {"display": display}
    assert re.sub(r"\n|\s{2,}", "", "".join(nodes[0].itertext())) == words


def test_code_is_colored_by_class_for_known_languages_only() -> None:
    assert '<span class="k">def</span>' in to_html("```python\ndef f(): pass\n```")
    assert "<span" not in to_html("```klingon\ndef f(): pass\n```")
    assert "<span" not in to_html("    def f(): pass")
    assert "<span" not in to_html("```python\n" + "x = 1\n" * 5000 + "```")


@pytest.mark.req("R18")
def test_a_text_that_is_too_long_is_shown_as_it_is() -> None:
    text = "*a* <b>\n" * (MAX_CHARACTERS // 8 + 1)
    html = to_html(text)
    assert html.startswith("<pre>*a* &lt;b&gt;")
    check_inert(html[:10_000])
    assert "<em>" in to_html(text[:1000])


UNITS = [
    *("[", "![", "](", "*", "_", "**a", "`", "``a`", "<", "&", "\\", "~~", "> ", "- ", "# ", "|"),
    *("\n|a|b|\n|-|-|\n", "[a]: ", "[a](", "[a](<", "\t", "```\n", " \n", "*a_ ", "[[a]]", "-\n"),
    *("| \n", "a\n=\n", "  - a\n", "\n|", "x\\\n", "<a", "&#", "((", "> > ", "[^", "a@b.c "),
    *(
        "$",
        "$a",
        "$a$",
        "$$",
        "\\(",
        "\\[",
        "$\\$",
        "\n$$\n",
        "$\\frac{a}{b}$",
        "- [ ] a\n",
        "$^^$",
    ),
]


UNITS += [
    *(
        '[a](x "',
        "[a](b)",
        '"[',
        "[a][b]",
        "\n[a]: b\n",
        "[a]: b\n",
        "***a",
        "_a_",
        "*a_",
        "<a@b.c>",
    ),
    *("<http://a>", "a\n-\n", "1. a\n", "|a|\n|-|\n|\n", "&amp;", "\\*", "`a`", "~~a~~", "    a\n"),
    *(" a\n", "> a\n", "- a\n\n", "[](", "\n|-|-|", "a|b\n-|-\n", "#\n", "![[", "```\na\n```\n"),
]


CALLS = 1_600_000
"""The calls that fit in 250 ms on an idle machine: 6,400 per millisecond for the slowest mixture
measured, 11,000 for the fastest; the worst of these texts makes 1,470,000 in 144 ms. Without an
allowance, they make up to billions."""


@pytest.mark.req("R18")
@pytest.mark.parametrize("unit", UNITS)
def test_hostile_text_costs_a_bounded_amount_of_work(unit: str) -> None:
    text = (unit * MAX_CHARACTERS)[:MAX_CHARACTERS]
    markdown._cached_long.cache_clear()
    html = Work(CALLS).of(lambda: to_html(text))
    assert bool(html) == bool(text.strip())


@pytest.mark.req("R18")
@pytest.mark.parametrize("depth", [100, 300, 1000, 10_000])
def test_nested_brackets_around_a_long_text_cost_a_bounded_amount_of_work(depth: int) -> None:
    inside = "x " * (MAX_CHARACTERS // 2 - depth - 10)
    text = "[" * depth + inside + "]" * depth + "\n\n[a]: b"
    markdown._cached_long.cache_clear()
    assert "x x" in Work(CALLS).of(lambda: to_html(text))


@pytest.mark.parametrize("name", ["CHANGELOG.md", "docs/architecture.md", "docs/guide"])
def test_a_long_document_is_fully_converted(name: str) -> None:
    path = ROOT / name
    files = [path] if path.is_file() else sorted(path.glob("*.md"))
    once = "\n\n".join(file.read_text(encoding="utf-8") for file in files)
    text = (once * (60_000 // len(once) + 1))[:60_000]
    html = to_html(text)
    assert html.count("<p>") + html.count("<li>") > 50
    assert not html.startswith("<pre>")


def read_in_vain(code: str, language: str) -> int:
    """Return the characters left in the text at each rule that the lexer tries, summed up."""
    ahead = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal ahead
        if event == "c_call" and frame.f_code.co_name == "get_tokens_unprocessed":
            place = frame.f_locals
            ahead += len(place["text"]) - place["pos"] if argument.__name__ == "match" else 0

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        assert highlighting.to_html(code, language, StepBudget(ALLOWANCE))
    finally:
        sys.setprofile(before)
    return ahead


@pytest.mark.req("R18")
@pytest.mark.parametrize(
    ("language", "unit", "millions"),
    [
        *(
            ("java", "\n", 50),
            ("java", "a ", 20),
            ("c", "/", 75),
            ("c", "\n", 14),
            ("cpp", "//", 85),
        ),
        *(("diff", "--", 55), ("diff", "@", 55), ("ts", "a.b", 115), ("js", "a.b", 330)),
        *(("rust", "/", 420), ("python", "$(", 1600)),
    ],
)
def test_hostile_code_costs_a_bounded_amount_of_work(
    language: str, unit: str, millions: int
) -> None:
    """The bounds are 10% above what was read in 60 to 145 ms on an idle machine.

    They differ because the rules of each language read at different speeds. Without an allowance,
    5 to 90 times as much is read, in up to ten seconds.
    """
    code = (unit * highlighting.MAX_CHARACTERS)[: highlighting.MAX_CHARACTERS]
    assert read_in_vain(code, language) < millions * 1_000_000


@pytest.mark.parametrize(
    ("language", "file"),
    [
        *(("python", "devui/web/panels/session/live.py"), ("css", "static/css/chat.css")),
        *(("toml", "pyproject.toml"), ("js", "static/js/shell/connection.js")),
        ("sql", "devui/store/migrations/0001_journal.sql"),
    ],
)
def test_ordinary_code_of_a_few_hundred_lines_is_colored(language: str, file: str) -> None:
    code = (ROOT / file).read_text(encoding="utf-8")[:8000]
    assert to_html(f"```{language}\n{code}\n```").count("<span") > 100


@pytest.mark.req("R18")
async def test_converting_a_hostile_text_does_not_block_the_loop() -> None:
    text = "[" * (MAX_CHARACTERS - 7)  # no other test converts this one
    work = asyncio.create_task(prepare([text]))
    turns = 0
    while not work.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 10
    await work
    hits = markdown._cached_long.cache_info().hits
    assert to_html(text).startswith("<pre>[[[")
    assert markdown._cached_long.cache_info().hits == hits + 1


async def test_texts_prepared_ahead_are_not_converted_again() -> None:
    texts = [f"*prepared {n}*" for n in range(3)]
    await prepare([*texts, "x" * 100_000])
    hits = markdown._cached.cache_info().hits
    assert [to_html(text) for text in texts]
    assert markdown._cached.cache_info().hits == hits + 3


def test_prose_is_rendered_as_the_parser_would(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(5)
    pieces = [*"abcZé1 2.,:?!'\"()/%…-\n ", "\n\n", "\n\n\n", "12. ", "--", "http://x.y/", "“a”"]
    texts = {"".join(chance.choices(pieces, k=chance.randrange(1, 12))) for _ in range(30_000)}
    prose = [text for text in texts if not markdown.is_parsed(text)]
    assert len(prose) > 1_000
    quick = [markdown._convert(text) for text in prose]
    monkeypatch.setattr(markdown, "is_prose", lambda text: False)
    assert quick == [markdown._convert(text) for text in prose]
