"""Tags of sessions: one spelling per app, limits, and which sessions have which."""

import pytest

from devui.debugger.predicates.filters import Filter, FilterError, split_tags
from devui.debugger.search.by_tag import tagged_sessions
from devui.store.errors import BadValue
from devui.store.journal import Journal
from devui.store.rows import NewFork
from devui.store.tags import LONGEST, MOST


@pytest.fixture
async def journal(tmp_path):
    tmp_path.chmod(0o700)
    async with await Journal.open(tmp_path) as journal:
        yield journal


async def create(journal, app="travel", **more):
    return (await journal.sessions.create(app, "ada", None, {}, **more)).key


async def tagged(journal, text, app=None):
    terms, _ = split_tags(text)
    return await tagged_sessions(journal.tags, terms, app)


async def test_case_does_not_matter_and_an_app_has_one_spelling(journal):
    first, second = await create(journal), await create(journal)
    other = await create(journal, "summary")
    await journal.tags.change([first], add=["Straße", "  needs \n review "])
    tags = await journal.tags.change([first, second, other], add=["STRASSE"])
    assert tags == {first: ["needs review", "Straße"], second: ["Straße"], other: ["STRASSE"]}
    composed, decomposed = "caf\u00e9", "cafe\u0301"
    await journal.tags.change([first], add=[composed])
    await journal.tags.change([second], add=[decomposed])
    assert await journal.tags.of(second) == [composed, "Straße"]
    used = [(each.name, each.sessions) for each in await journal.tags.counts("travel")]
    assert used == [(composed, 2), ("needs review", 1), ("Straße", 2)]
    await journal.tags.change([first, second], remove=["strasse", "nobody has this"])
    assert await journal.tags.of_sessions([first, second, other]) == {
        first: [composed, "needs review"],
        second: [composed],
        other: ["STRASSE"],
    }


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (" \t", "empty"),
        ("x" * (LONGEST + 1), f"at most {LONGEST} characters, this one {LONGEST + 1}"),
        ("a,b", "commas"),
        ('say "hi"', "quotation marks"),
        ("bug*", "asterisks"),
        ("b\u200bug", "invisible character '\\u200b'"),
        ("\u202egub", "invisible character"),
        ("nul\0", "NUL"),
    ],
)
async def test_impossible_tags_are_refused_and_change_nothing(journal, name, reason):
    key = await create(journal)
    with pytest.raises(BadValue, match=reason.replace("\\", "\\\\")):
        await journal.tags.change([key], add=["fine", name], remove=["fine"])
    assert await journal.tags.of(key) == []


async def test_a_session_has_a_limited_number_of_tags(journal):
    full, empty = await create(journal), await create(journal)
    names = [f"tag {number}" for number in range(MOST)]
    await journal.tags.change([full], add=names)
    await journal.tags.change([full], add=["Tag 3"])
    with pytest.raises(BadValue, match=f"session {full} would have {MOST + 1} tags"):
        await journal.tags.change([empty, full], add=["one more"])
    assert await journal.tags.of(empty) == []
    tags = await journal.tags.change([full], add=["one more"], remove=["tag 0"])
    assert len(tags[full]) == MOST
    longest = "👩\u200d🚀" + "ü" * (LONGEST - 3)
    assert (await journal.tags.change([empty], add=[longest]))[empty] == [longest]


async def test_terms_select_sessions_by_their_tags(journal):
    keys = [await create(journal) for _ in range(4)]
    bug, fix, both, none = keys
    await journal.tags.change([bug, both], add=["Bug"])
    await journal.tags.change([fix, both], add=["bugfix", "needs review"])
    other = await create(journal, "summary")
    await journal.tags.change([other], add=["bug"])
    expected = {
        "tag:bug": {bug, fix, both},
        'tag:"BUG"': {bug, both},
        "TAG:*fix": {fix, both},
        'tag:"bug" -tag:bugfix': {bug},
        'tag:"bug",bugf': {bug, fix, both},
        'tag:"needs review"': {fix, both},
        "-tag:bug": {none},
        "tag:nothing": set(),
        "-tag:nothing": set(keys),
        "flight tag:bugf words": {fix, both},
    }
    assert {text: await tagged(journal, text, "travel") for text in expected} == expected
    assert await tagged(journal, 'tag:"bug"') == {bug, both, other}
    assert await tagged(journal, 'bug "tag:bug" tag:') is None


def test_the_rest_of_a_search_keeps_its_positions():
    terms, rest = split_tags('tag:bug x:y -tag:"a b"')
    assert [(each.patterns, each.negated) for each in terms] == [
        (("bug*",), False),
        (("a b",), True),
    ]
    assert rest == f"{' ' * 7} x:y {' ' * 10}"
    with pytest.raises(FilterError) as refusal:
        Filter.read(rest)
    assert refusal.value.at == 8
    for text, reason in (("tag:bug", "sessions have tags"), ("tag:", "write tag:NAME")):
        with pytest.raises(FilterError, match=reason):
            Filter.read(text)


async def test_a_tagged_session_is_not_unused_and_takes_its_tags_along(journal):
    tagged_key, other = await create(journal), await create(journal)
    await journal.tags.change([tagged_key], add=["keep"])
    assert [row.key for row in await journal.sessions.unused(0)] == [other]
    fork = await journal.forks.make(tagged_key, NewFork(0, "fork", "same"))
    assert await journal.tags.of(fork.key) == []
    await journal.sessions.delete(tagged_key)
    assert await journal.tags.counts() == []
    assert await journal.tags.change([tagged_key, other], add=["late"]) == {other: ["late"]}
