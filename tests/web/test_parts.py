"""Building the parts of pages from stored events."""

import json
from dataclasses import replace

import pytest

from devui.debugger.events.summary import summarize
from devui.store.rows import Change, Value
from devui.web import links
from devui.web.basic_parts import JsonNode
from devui.web.panels.chat.chat import chat_message, conversation, tool_outcomes
from devui.web.panels.chat.content_parts import TextPart
from devui.web.panels.chat.parts import ChatMessage, ToolChip
from devui.web.panels.chat.run_notes import run_note
from devui.web.panels.inspector.detail import event_detail
from devui.web.panels.inspector.parts import ArtifactLink
from devui.web.panels.runs.status import run_status
from devui.web.panels.state.panel import changed_values, state_panel
from devui.web.panels.timeline.gaps import Gap, GapSection, gap
from devui.web.panels.timeline.kinds import LOUDNESS, WORDS, shape
from devui.web.panels.timeline.parts import EventRow, Flag, InvocationHeader
from devui.web.panels.timeline.rows import event_row
from devui.web.panels.timeline.runs import run_end
from devui.web.panels.timeline.transport import BINS, ticks
from devui.web.text import jsontree
from devui.web.text.deceptive_characters import quoted, readable, visible
from devui.web.text.formats import compact, plural, seconds
from devui.web.text.jsontree import CHARACTERS, CHILDREN, NODES, json_text, json_tree
from devui.wire.events import Event
from tests.web import samples, state_samples, travel_samples

TRAVEL = travel_samples.travel()
PAIRS = [(row, summary) for row, summary, _ in TRAVEL]


def messages() -> tuple[ChatMessage, ...]:
    return conversation([(row.number, e, s) for row, s, e in TRAVEL], session=travel_samples.KEY)


# --- rows --------------------------------------------------------------------------------------


def test_a_row_shows_number_kind_author_text_and_flags() -> None:
    row, _ = PAIRS[10]
    before = replace(row, timestamp=row.timestamp - 0.31)
    event = event_row(row, before, gutter=samples.MARGINS)
    assert (event.number, event.kind, event.word, event.author) == (
        11,
        "result",
        "result",
        "FlightAgent",
    )
    assert event.text.startswith('search_flights → {"flights": [{"no": "LX 316"')
    assert event.code
    assert event.flags == (Flag("delta", "Δ 3", "changes flights, cheapest, retries"),)
    assert event.elapsed == "0.31"
    assert event.tokens == "\u2013"
    assert event.depth == 1
    assert event.href == "/sessions/7?event=11"


def test_the_first_row_has_no_elapsed_time() -> None:
    assert event_row(PAIRS[0][0], None, gutter=samples.MARGINS).elapsed == "\u2013"


@pytest.mark.parametrize(
    ("worked", "steps"), [(0.01, 0), (0.1, 3), (1.0, 6), (12.0, 9), (100.0, 12), (4000.0, 12)]
)
def test_the_bar_of_a_row_grows_by_a_quarter_for_each_factor_of_ten(worked, steps) -> None:
    row, _ = PAIRS[10]
    before = replace(row, timestamp=row.timestamp - worked)
    assert event_row(row, before, gutter=samples.MARGINS).bar == steps


def test_a_row_has_the_depth_of_its_path_and_the_lane_of_its_branch() -> None:
    row, summary = PAIRS[10]
    placed = replace(summary, path="Team/Fan/FlightAgent", lane=8)
    event = event_row(replace(row, summary_json=placed.to_json()), None, gutter=samples.MARGINS)
    assert (event.depth, event.lane, event.path) == (2, 6, "Team/Fan/FlightAgent")


@pytest.mark.parametrize(
    ("path", "author"),
    [
        ("flow@1/FlightAgent@1", "FlightAgent"),
        ("flow@1/FlightAgent@2", "FlightAgent@2"),
        ("flow@2/pair@3", "FlightAgent"),
    ],
)
def test_a_row_shows_which_run_of_its_workflow_node_it_is_from(path, author) -> None:
    row, summary = PAIRS[10]
    placed = replace(summary, path=path)
    event = event_row(replace(row, summary_json=placed.to_json()), None, gutter=samples.MARGINS)
    assert event.author == author


def test_final_text_has_its_own_shape_and_a_flag_for_its_chunks() -> None:
    event = event_row(PAIRS[4][0], None, gutter=samples.MARGINS)
    assert event.shape == "final"
    assert [flag.kind for flag in event.flags] == ["chunks"]


def test_rows_are_grouped_under_the_users_messages() -> None:
    items = samples.timeline_items([row for row, _ in PAIRS])
    headers = [item for item in items if isinstance(item, InvocationHeader)]
    assert [header.text for header in headers] == [
        "Book a flight to London next Tuesday",
        "Yes, before ten",
    ]
    assert [header.events for header in headers] == ["5 events", "8 events"]
    assert headers[0].tokens == "1.1k tok"
    assert len(items) == len(PAIRS) + 2


def test_a_window_that_begins_inside_an_invocation_has_a_continued_header() -> None:
    items = samples.timeline_items([row for row, _ in PAIRS[7:]], previous=PAIRS[6][0])
    assert isinstance(items[0], InvocationHeader)
    assert items[0].continued
    assert isinstance(items[1], EventRow)
    assert items[1].elapsed == "0.55"


def test_there_is_a_gap_only_if_events_are_left_out() -> None:
    assert gap(7, 1, 0) is None
    assert gap(7, 1, 9, 0) is None
    assert gap(7, 1, 3) == Gap(1, 3, 3, "/sessions/7?event=3")
    assert GapSection.of(5, 10, 2, 3).numbers == (7, 9)
    assert GapSection.of(5, 10, 99, 1_000).numbers == (10, 10)


def test_every_kind_has_a_word_a_shape_and_a_tick() -> None:
    assert WORDS.keys() == LOUDNESS.keys()
    assert shape("text", final=True) != shape("text", final=False)


# --- chat --------------------------------------------------------------------------------------


def test_events_without_content_for_people_have_no_message() -> None:
    assert [message.number for message in messages()] == [1, 2, 4, 5, 6, 7, 8, 9, 10, 12, 13]


def test_only_the_call_that_a_person_edited_has_an_edit_hint() -> None:
    answers: list[dict[str, object]] = [
        {"functionResponse": {"id": each, "name": "look", "response": {}}} for each in ("a", "b")
    ]
    mark = {"edit": 1, "gate": "before_tool", "action": "skip", "by": "Ada", "call": "b"}
    event = {
        "author": "A",
        "content": {"parts": answers},
        "customMetadata": {"devui_edited": [mark]},
    }
    titles = [
        each.edit_hint
        for each in tool_outcomes(3, summarize(Event.of(event), final=False), session=1)
    ]
    assert titles == ["", "Ada skipped the call"]


def test_a_result_is_shown_in_the_chip_of_its_call() -> None:
    chip = messages()[1].parts[1]
    assert isinstance(chip, ToolChip)
    assert (chip.name, chip.args) == ("find_airports", 'city="London"')
    assert (chip.outcome.status, chip.outcome.text) == ("done", '["LHR", "LGW", "STN"]')
    (pushed,) = tool_outcomes(3, PAIRS[2][1], session=travel_samples.KEY)
    assert pushed == chip.outcome


def test_the_page_and_the_stream_make_the_same_message() -> None:
    row, summary, event = TRAVEL[12]
    previous = messages()[-2].author
    pushed = chat_message(
        row.number, event, summary, session=travel_samples.KEY, previous_author=previous
    )
    assert pushed == messages()[-1]


def test_an_error_is_a_message_with_its_code() -> None:
    error = messages()[7]
    assert (error.role, error.code) == ("error", "DEADLINE_EXCEEDED")
    assert error.text == "The fares service did not answer within 2 s"


def test_a_transfer_is_a_line_between_the_messages() -> None:
    assert (messages()[5].role, messages()[5].text) == ("signal", "TravelAgent → FlightAgent")


def test_a_question_to_a_person_shows_its_text() -> None:
    chip = messages()[9].parts[0]
    assert isinstance(chip, ToolChip)
    assert chip.asks
    assert (chip.name, chip.args) == ("asks for confirmation", "Hold LX 316 for 212 CHF?")
    assert chip.outcome.status == "waiting"


def test_a_name_is_not_repeated_for_the_same_speaker() -> None:
    continued = {message.number: message.continued for message in messages()}
    assert not continued[2]
    assert continued[5]
    assert not continued[8]


# --- the inspector -----------------------------------------------------------------------------


def test_the_detail_has_every_labelled_field() -> None:
    row, summary, event = TRAVEL[4]
    detail = event_detail(event, row, (), prices=samples.PRICES, summary=summary)
    facts = {fact.label: fact.value for fact in (*detail.identity, *detail.place, *detail.model)}
    assert facts["invocation"] == "e-7f31c2aa"
    assert "branch" not in facts
    assert facts["id"] == "event-5"
    assert facts["tokens"] == "655"
    assert facts["finish reason"] == "STOP"
    assert detail.final
    assert not detail.partial
    assert isinstance(detail.parts[0], TextPart)


def test_the_detail_has_actions_artifacts_and_chunks() -> None:
    row, summary, event = TRAVEL[3]
    chunks = [Event.of({"content": travel_samples.text(f"piece {n}")}) for n in range(250)]
    detail = event_detail(event, row, (), prices=samples.PRICES, summary=summary, chunks=chunks)
    assert detail.artifacts == (
        ArtifactLink(
            "airports.md",
            0,
            "/sessions/7/artifacts/airports.md?version=0",
            opens=False,
            tab_href="/sessions/7?event=4&tab=artifacts&file=airports.md&version=0",
        ),
    )
    assert detail.chunks is not None
    assert (detail.chunks.count, detail.chunks.more) == (250, 50)
    assert detail.chunks.texts[0] == "piece 0"
    question = event_detail(
        TRAVEL[11][2], TRAVEL[11][0], (), prices=samples.PRICES, summary=TRAVEL[11][1]
    )
    assert [fact.label for fact in question.actions] == ["confirmation requested"]


def test_state_changes_show_old_and_new() -> None:
    values = changed_values(state_samples.CHANGES, session=travel_samples.KEY, number=11)
    assert [(value.key, value.mark) for value in values] == [
        ("flights", "changed"),
        ("cheapest", "changed"),
        ("retries", "new"),
    ]
    assert values[1].old is not None
    assert values[1].old.root.text == "null"
    assert values[1].value is not None
    assert values[1].value.root.text == '"LX 316"'


def test_the_state_panel_groups_keys_by_scope_and_marks_changes() -> None:
    removal = Change("user", "draft", '"x"', None)
    panel = state_panel(
        state_samples.VALUES,
        [*state_samples.CHANGES, removal],
        {"temp:url": "https://fares.test"},
        session=travel_samples.KEY,
        number=11,
    )
    scopes = {scope.label: {v.key: v for v in scope.values} for scope in panel.scopes}
    assert list(scopes) == ["session", "user:", "app:", "temp:"]
    assert scopes["session"]["cheapest"].mark == "changed"
    assert scopes["session"]["city"].mark == "same"
    assert (scopes["session"]["city"].by, scopes["session"]["itinerary"].by) == ("#3", "start")
    assert scopes["user:"]["draft"].mark == "removed"
    assert scopes["temp:"]["url"].value is not None


def test_a_value_keeps_its_dom_id_from_event_to_event() -> None:
    first = state_panel([Value("session", "a b", "1", 1, 1)], (), {}, session=1)
    later = state_panel([Value("session", "a b", "[2]", 9, 5)], (), {}, session=1, number=5)
    assert first.scopes[0].values[0].dom_id == later.scopes[0].values[0].dom_id
    assert " " not in first.scopes[0].values[0].dom_id


# --- JSON --------------------------------------------------------------------------------------


def test_a_tree_folds_long_values() -> None:
    root = json_tree({"text": "x" * 10_000, "list": list(range(120))}).root
    text, items = root.children
    assert (text.kind, text.note) == ("text", "10,000 characters")
    assert items.note == "120 items"
    assert len(items.children) == CHILDREN + 1
    assert items.children[-1].text == "… 70 more"


def test_a_tree_is_bounded_in_nodes_and_depth() -> None:
    def count(node: JsonNode) -> int:
        return 1 + sum(count(child) for child in node.children)

    wide = [[[list(range(40)) for _ in range(40)] for _ in range(40)] for _ in range(40)]
    assert count(json_tree(wide).root) < NODES + 50 * CHILDREN
    deep: object = 1
    for _ in range(500):
        deep = [deep]
    assert count(json_tree(deep).root) < 20


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, "null", "null"),
        (True, "boolean", "true"),
        (1.5, "number", "1.5"),
        ("a\u202eb", "string", '"a\\u202eb"'),
        ({}, "object", "{}"),
        ([], "array", "[]"),
    ],
)
def test_scalars_of_a_tree_are_json(value: object, kind: str, text: str) -> None:
    root = json_tree(value).root
    assert (root.kind, root.text) == (kind, text)


def test_colored_json_is_the_same_text() -> None:
    value = {"a": ["x", 1, True, None, {"b": 'say "hi"'}], "é": -1.5e3}
    tree = json_text(value)
    assert json.loads("".join(text for _, text in tree.pieces)) == value
    assert ("key", '"a"') in tree.pieces
    assert {"key", "string", "number", "boolean", "null"} <= {kind for kind, _ in tree.pieces}


def test_very_large_json_is_truncated_with_a_note() -> None:
    tree = json_text({"a": "x" * 1_000_000})
    assert sum(len(text) for _, text in tree.pieces) < 600_000
    assert "only the first 524,288 characters are shown" in tree.cut
    assert tree.size == "1.0 MB"


@pytest.mark.parametrize("text", ['"', "\\", '\\"', 'a"', '","', '{"a":"', "é"])
@pytest.mark.parametrize("limit", [*range(2000, 2012), 1_000_000])
def test_colored_json_has_no_quote_outside_a_token(
    monkeypatch: pytest.MonkeyPatch, text: str, limit: int
) -> None:
    """Each such quote would mean a futile search for its end, and quadratic work."""
    monkeypatch.setattr(jsontree, "CHARACTERS", limit)
    pieces = json_text({"result": text * 1000, "after": 1}).pieces
    assert not [piece for kind, piece in pieces if not kind and '"' in piece]
    kinds = [kind for kind, _ in pieces if kind]
    assert kinds == ["key", "string", "key", "number"][: len(kinds)]
    assert len(kinds) == (4 if pieces[-1][1].endswith("}") else 2)


@pytest.mark.parametrize("length", range(CHARACTERS - 16, CHARACTERS - 8))
def test_a_truncated_string_keeps_its_color(length: int) -> None:
    tree = json_text({"a": "x" * length + '\\"\\' * 9})
    assert [kind for kind, _ in tree.pieces if kind] == ["key", "string"]
    assert sum(len(text) for _, text in tree.pieces) == CHARACTERS


@pytest.mark.req("R20")
@pytest.mark.parametrize("hidden", ["\u202e", "\u200b", "\ufeff", "\U000e0041", "\x1b", "\ud800"])
def test_deceptive_characters_are_made_visible(hidden: str) -> None:
    assert hidden not in visible(f"a{hidden}b")
    assert hidden not in quoted(f"a{hidden}b")
    visible(f"a{hidden}b").encode()


def test_text_for_reading_keeps_what_scripts_and_emoji_need() -> None:
    assert readable("\u0645\u200c\u062e") == "\u0645\u200c\u062e"
    assert visible("👩\u200d💻") == "👩\u200d💻"
    assert visible("line\nbreak\ttab") == "line\nbreak\ttab"


# --- figures, ticks, runs, links ---------------------------------------------------------------


def test_figures_use_one_unit_and_a_dash_for_unknown() -> None:
    assert [seconds(s) for s in (None, -1.0, 0.814, 12.44, 340.2)] == [
        "\u2013",
        "0.00",
        "0.81",
        "12.4",
        "340",
    ]
    assert [compact(n) for n in (None, 0, 999, 1400, 23_456, 1_200_000)] == [
        "\u2013",
        "0",
        "999",
        "1.4k",
        "23k",
        "1.2M",
    ]
    assert (plural(1, "event"), plural(1200, "event")) == ("1 event", "1,200 events")


def test_ticks_are_binned_in_long_sessions_and_the_loudest_shows() -> None:
    few = ticks(["user", "text"])
    assert [(marks.kind, marks.path) for marks in few.marks] == [
        ("user", f"M0 {24 - LOUDNESS['user']}h2v{LOUDNESS['user']}h-2z"),
        ("text", f"M998 {24 - LOUDNESS['text']}h2v{LOUDNESS['text']}h-2z"),
    ]
    many = ticks(["text"] * 5000 + ["error"] + ["text"] * 4999)
    assert many.count == 10_000
    counts = {marks.kind: marks.path.count("M") for marks in many.marks}
    assert counts == {"text": BINS - 1, "error": 1}
    assert ticks([]).marks == ()


def test_common_ticks_are_low_and_failures_are_drawn_on_top() -> None:
    turn = ["user", "call", "result", "text"]
    many = ticks(turn * 800, failures=range(3, 3200, 40))
    assert [(marks.kind, marks.path.count("M")) for marks in many.marks][-1] == ("error", 80)
    assert {marks.kind: f"v{LOUDNESS['user']}" in marks.path for marks in many.marks}[
        "user"
    ] is False


def test_matches_of_a_filter_are_drawn_on_top() -> None:
    few = ticks(["user", "call", "result", "text"], matches=[2])
    assert [(marks.kind, marks.are_matches) for marks in few.marks] == [
        ("user", False),
        ("result", False),
        ("text", False),
        ("call", True),
    ]
    many = ticks(["user", "text"] * 1000, matches=[1, 1001])
    shown = [marks for marks in many.marks if marks.are_matches]
    assert [(marks.kind, marks.path.count("M")) for marks in shown] == [("user", 2)]


def test_a_run_is_described_by_its_status() -> None:
    running = replace(samples.RUN, status="running")
    assert run_status(running).stop_href == "/runs/run-1/stop"
    assert run_status(samples.RUN).stop_href is None
    assert run_status(None).word == "not run yet"
    assert run_end(samples.RUN) is None
    assert run_note(running, follows_error=False) is None


def test_a_failed_run_shows_message_place_and_traceback() -> None:
    end, note = run_end(samples.FAILED), run_note(samples.FAILED, follows_error=False)
    assert end is not None
    assert note is not None
    assert end.failure == note.failure
    assert end.failure is not None
    assert end.failure.message == "KeyError: 'fares'"
    assert end.failure.place == "agents/travel/agent.py:48 in search_flights"


def test_names_are_escaped_in_urls() -> None:
    assert (
        links.artifact_url(7, "../a b/ü?#", 2)
        == "/sessions/7/artifacts/..%2Fa%20b%2F%C3%BC%3F%23?version=2"
    )
    assert links.app_url("a/b") == "/apps/a%2Fb"
    assert links.session_url(7, event=3, tab="state") == "/sessions/7?event=3&tab=state"


def test_a_short_text_in_a_tree_keeps_its_line_breaks() -> None:
    [node] = json_tree({"note": 'one "1"\ntwo \\n'}).root.children
    assert node.text == '"one \\"1\\"\ntwo \\\\n"'
