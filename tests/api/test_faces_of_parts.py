"""Parts of events other than text, each shown in the chat, the row and the inspector."""

import base64
import html
import json
import re
import time

import pytest

from tests.kit.server import make_session, running, write_app

AGENT = """
from devui.runtime.agents import LlmAgent
from devui.runtime.models import Rule, Say, ScriptedLlm

root_agent = LlmAgent(name="teller", model=ScriptedLlm(rules=[Rule(then=Say("Hi."))]))
"""
PAGE = {"Accept": "text/html"}
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PICTURE = {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(PIXEL).decode()}}


def agent_event(*parts, **fields):
    content = {"content": {"role": "model", "parts": list(parts)}} if parts else {}
    return {"author": "teller", "invocationId": "e-1", **content, **fields}


def result(value, *parts):
    response = {"id": "c", "name": "look", "response": value, "parts": list(parts)}
    return agent_event({"functionResponse": response})


GROUNDED = agent_event(
    {"text": "Cats sleep — a lot. Dogs don't."},
    groundingMetadata={
        "groundingSupports": [
            {
                "segment": {"startIndex": 0, "endIndex": 21, "text": "Cats sleep — a lot."},
                "groundingChunkIndices": [0, 1],
            },
            {"segment": {"text": "Dogs don't."}, "groundingChunkIndices": [3, 7]},
        ],
        "webSearchQueries": ["cats & dogs"],
        "groundingChunks": [
            {"web": {"uri": "https://cats.example/a", "title": "Cats"}},
            {"retrievedContext": {"uri": "gs://bucket/b", "title": "Our own notes"}},
            {"web": {"uri": "javascript:alert(1)", "title": "Bad"}},
            {"web": {"uri": "https://cats.example/a", "title": "Cats"}},
        ],
    },
    citationMetadata={
        "citations": [{"uri": "https://c.example/c"}, {"uri": "https://c.example/c"}]
    },
)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("faces")
    write_app(folder / "agents", "teller", AGENT)
    with running(folder / "agents", folder / "data") as server, server.client() as client:
        yield client


def opened(client, *events):
    """The key of a session with these events."""
    session = make_session(client, "teller", events=list(events))["id"]
    query = {"app": "teller", "user": "u", "id": session}
    return client.get("/api/sessions", params=query).json()["sessions"][0]["key"]


def words(client, path):
    text = client.get(path, headers=PAGE).text
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split()), text


def places(client, key, number=1):
    """The session's page with the chat, the row and the event's details."""
    return words(client, f"/sessions/{key}?event={number}")


def test_sources_are_listed_and_only_web_addresses_are_links(client):
    text, page = places(client, opened(client, GROUNDED))
    assert text.count("Searched for cats & dogs") == 2  # in the chat and in the event's details
    for title in ("Cats", "Our own notes", "Bad", "https://c.example/c"):
        assert title in text
    links = re.findall(r'<a href="([^"]*)" target="_blank" rel="noopener noreferrer"', page)
    assert set(links) == {"https://cats.example/a", "https://c.example/c"}
    assert page.count('<ol aria-label="Sources">') == 2
    assert 'href="javascript:' not in page
    assert "Cats sleep — a lot. [1][2] Dogs don't. [1]" in text


@pytest.mark.parametrize(
    ("field", "word"), [("inputTranscription", "Heard"), ("outputTranscription", "Spoken")]
)
def test_transcriptions_are_shown(client, field, word):
    text, _ = places(
        client, opened(client, agent_event(**{field: {"text": "by voice", "finished": True}}))
    )
    assert text.count(f"{word} by voice") == 2
    assert f"{word.lower()}: by voice" in text, "the row"


@pytest.mark.parametrize("value", [{}, {"result": "ok"}])
def test_a_picture_in_a_tool_result_is_shown_and_opens(client, value):
    call = agent_event({"functionCall": {"id": "c", "name": "look", "args": {}}})
    key = opened(client, call, result(value, PICTURE))
    text, page = places(client, key, 2)
    assert "[image/png]" in text, "the row"
    links = set(re.findall(r'(?:href|src)="(/sessions/\d+/events/2/file[^"]*)"', page))
    [link] = map(html.unescape, links)
    assert text.count("inline data image/png · 70 B Open Save") == 2, "in the chat and the details"
    answer = client.get(link)
    assert (answer.content, answer.headers["Content-Type"]) == (PIXEL, "image/png")
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    whole = client.get(f"/api/sessions/{key}/export?format=html").text
    data = base64.b64encode(PIXEL).decode()
    assert f'<img src="data:image/png;base64,{data}"' in whole
    assert 'src="/' not in whole


def test_a_saved_picture_has_a_thumbnail_while_its_version_exists(client):
    versions = {"map.png": 0, "large.png": 0, "gone.png": 0, "note.txt": 0}
    event = agent_event(actions={"artifactDelta": versions})
    session = make_session(client, "teller", events=[event])["id"]
    files = f"/apps/teller/users/u/sessions/{session}/artifacts"
    large = {"inlineData": {**PICTURE["inlineData"], "data": "iVBORw0KGgo" + "A" * 3_000_001}}
    for name, part in [("map.png", PICTURE), ("large.png", large), ("note.txt", {"text": "Hi"})]:
        answer = client.post(files, json={"filename": name, "artifact": part})
        assert answer.status_code == 200, answer.text
    query = {"app": "teller", "user": "u", "id": session}
    key = client.get("/api/sessions", params=query).json()["sessions"][0]["key"]

    def thumbnails(path: str) -> list[str]:
        """The sources of the pictures in the chat."""
        page = client.get(path, headers=PAGE).text
        return re.findall(r'class="picture thumbnail".*?<img src="([^"]{,80})', page)

    place = f"/sessions/{key}/artifacts"
    of_both = [f"{place}/map.png?version=0", f"{place}/large.png?version=0"]
    assert thumbnails(f"/sessions/{key}") == of_both
    [inlined] = thumbnails(f"/api/sessions/{key}/export?format=html")
    data = base64.b64encode(PIXEL).decode()
    assert f"data:image/png;base64,{data}".startswith(inlined)
    assert client.delete(f"{files}/map.png").status_code == 200
    assert thumbnails(f"/sessions/{key}") == of_both[1:]


def test_a_file_is_saved_from_the_html_file(client):
    data = base64.b64encode(b"city,nights").decode()
    blob = {"mimeType": "text/csv", "displayName": "a.csv", "data": data}
    key = opened(client, agent_event({"inlineData": blob}))
    whole = client.get(f"/api/sessions/{key}/export?format=html").text
    saved = re.findall(r'<a class="file-save" href="data:[^;]*;base64,([^"]*)"', whole)
    assert saved == [data] * 2
    assert 'class="file-open"' not in whole


def test_a_file_that_a_browser_could_execute_is_only_downloaded(client):
    data = base64.urlsafe_b64encode(b"<script>\xff\xfe~?</script>").decode()
    part = {"inlineData": {"mimeType": "text/html", "displayName": "a b.html", "data": data}}
    key = opened(client, agent_event(part))
    link = f"/sessions/{key}/events/1/file?path=content.parts[0].inlineData"
    answer = client.get(link)
    assert answer.content == b"<script>\xff\xfe~?</script>"
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    for path, status in (("content", 404), ("content.parts[7].inlineData", 404), ("[", 400)):
        wrong = client.get(f"/sessions/{key}/events/1/file", params={"path": path})
        assert wrong.status_code == status, path
    assert client.get(f"/sessions/{key}/events/9/file?path=content").status_code == 404


@pytest.mark.req("R19")
def test_a_picture_on_another_server_is_a_link_with_a_button(client):
    cat = {"fileUri": "https://cats.example/cat.png", "mimeType": "image/png"}
    untyped = {"fileUri": "http://dogs.example:8080/dog.webp"}
    others = [
        {"fileUri": "https://docs.example/a.pdf", "mimeType": "application/pdf"},
        {"fileUri": "gs://bucket/cat.png", "mimeType": "image/png"},
    ]
    files = [{"fileData": each} for each in (cat, untyped, *others)]
    _, text = places(client, opened(client, agent_event(*files), result({}, *files)))
    button = r'data-load-picture="https?://[^"]*">Load picture from ([^<]*)</button>'
    hosts = re.findall(button, text)
    assert set(hosts) == {"cats.example", "dogs.example:8080"}
    assert len(hosts) >= 4  # in the chat and in the inspector
    assert 'href="https://cats.example/cat.png"' in text
    assert 'src="http' not in text


def test_json_in_a_text_is_shown_as_a_tree(client):
    text = json.dumps({"greeting": "你好", "list": [1, {"deep": "x"}]})
    mcp = {"content": [{"type": "text", "text": text}]}
    for value in ({"result": text}, mcp):
        visible, _ = places(client, opened(client, result(value)))
        assert re.search(r'greeting : "你好"', visible), visible
        assert re.search(r'deep : "x"', visible)
        assert "JSON in text, 2 keys" in visible or "result" in value


@pytest.mark.parametrize("text", ["{not json}", "[]", "{}", "[" * 5000 + "]" * 5000, '"text"'])
def test_texts_that_are_not_json_stay_texts(client, text):
    _, page = places(client, opened(client, result({"value": text})))
    assert "JSON in text" not in page


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "SAFETY", "OTHER"])
def test_a_truncated_answer_is_marked(client, reason):
    _, page = places(client, opened(client, agent_event({"text": "It beg"}, finishReason=reason)))
    assert page.count('class="cut-off"') == 2
    assert re.search(rf'class="flag cut"[^>]*>[^<]*(<svg.*?</svg>)?[^<]*{reason}', page, re.DOTALL)


def test_a_complete_answer_is_not_marked_as_truncated(client):
    _, page = places(client, opened(client, agent_event({"text": "All."}, finishReason="STOP")))
    assert "cut-off" not in page
    assert "flag cut" not in page


@pytest.mark.parametrize(
    ("event", "final"),
    [
        (agent_event({"text": "An answer."}), True),
        (agent_event({"functionCall": {"id": "c", "name": "look", "args": {}}}), False),
        (result({"a": 1}), False),
        (result({"a": 1}) | {"actions": {"skipSummarization": True}}, True),
        (agent_event({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}), False),
        (agent_event({"text": "not yet"}, partial=True), False),
        (agent_event(errorCode="BAD", errorMessage="no"), True),
    ],
)
def test_final_responses_are_recognized(client, event, final):
    key = opened(client, event)
    [row] = client.get(f"/api/sessions/{key}/events").json()["events"]
    assert row["final"] is final


def test_a_final_answer_may_be_only_a_file(client):
    key = opened(client, agent_event({"text": "Here it is:"}), agent_event(PICTURE))
    [_, row] = client.get(f"/api/sessions/{key}/events").json()["events"]
    assert (row["kind"], row["final"]) == ("text", True)
    page = client.get(f"/sessions/{key}", headers=PAGE).text
    assert re.findall(r'id="f-(\d+)">(?:(?!id="f-).)*?flag final', page, re.DOTALL) == ["2"]


def test_an_answer_in_json_can_be_shown_as_a_tree(client):
    whole = agent_event({"text": '{"city": "Rome", "nights": [2, 3]}'})
    fenced = agent_event({"text": '```json\n[{"city": "Oslo"}]\n```'})
    others = (
        agent_event({"text": "{not json}"}),
        agent_event({"text": "{}"}),
        agent_event({"text": 'So: {"a": 1}'}),
    )
    key = opened(client, whole, fenced, *others)
    text, page = words(client, f"/sessions/{key}")
    chat = page[page.index('id="messages"') : page.index('id="live-chat"')]
    assert chat.count("Show as a tree") == 2
    assert text.count("Oslo") > 1


def test_json_among_the_words_of_a_text_can_be_shown_as_trees(client):
    large = json.dumps({"hotels": [{"name": f"Hotel {n}", "stars": n} for n in range(4)]})
    prose = (
        'In Python:\n```python\n{"not": "this one"}\n```\nFenced:\n```json\n{"city": "Rome"}\n```\n'
        f'Small {{"a": 1}}, cut {large[:-1]}, and large: {large}. [Done] {{'
    )
    key = opened(client, agent_event({"text": prose}))
    _, page = words(client, f"/sessions/{key}")
    chat = page[page.index('id="messages"') : page.index('id="live-chat"')]
    summaries = re.findall(r"<summary>Show <code[^>]*>(.*?)</code> as a tree</summary>", chat)
    first, *others = map(html.unescape, summaries)
    assert first == '{"city": "Rome"}'
    assert [each[:12] for each in others] == ['[{"name": "H', '{"hotels": [']
    detail = client.get(f"/sessions/{key}?event=1", headers=PAGE).text
    assert detail.count(" as a tree</summary>") == 2 * len(summaries)


@pytest.mark.parametrize("text", ["[" * 60_000, '[["a"],' * 9_000, '{"a": ' * 10_000])
def test_a_text_of_unfinished_json_costs_little(client, text):
    key = opened(client, agent_event({"text": text}))
    start = time.monotonic()
    assert client.get(f"/sessions/{key}", headers=PAGE).status_code == 200
    assert time.monotonic() - start < 10


def test_a_page_that_could_not_be_retrieved_is_marked(client):
    pages = [
        {
            "retrievedUrl": f"https://{status.lower()}.example/",
            "urlRetrievalStatus": prefix + status,
        }
        for prefix in ["URL_RETRIEVAL_STATUS_"]
        for status in ("SUCCESS", "ERROR", "PAYWALL", "UNSAFE", "TOO_NEW")
    ]
    event = agent_event({"text": "read"}, urlContextMetadata={"urlMetadata": pages})
    _, page = places(client, opened(client, event))
    items = [re.sub(r"<[^>]*>", "", each) for each in re.findall(r"<li>(.*?)</li>", page)]
    texts = [item.split() for item in items if ".example/" in item]
    expected = ["", "couldn't be retrieved", "behind a paywall", "blocked as unsafe", "too new"]
    assert [html.unescape(" ".join(rest)) for _, *rest in texts] == expected * 2


def test_failed_code_and_a_thought_alone_are_plain_to_see(client):
    failed = {"codeExecutionResult": {"outcome": "OUTCOME_DEADLINE_EXCEEDED", "output": "…"}}
    thought = {"text": "Let me see.", "thought": True}
    key = opened(client, agent_event(failed), agent_event(thought))
    text, page = places(client, key)
    assert "output · deadline exceeded" in text
    assert page.count('<figure class="piece k-error">') == 2  # in the chat and in the details
    _, page = places(client, key, 2)
    panel = page[page.index('id="panel"') :]
    assert '<details class="thought" open>' in panel


def test_an_error_that_names_the_finish_reason_is_shown_once(client):
    words_of_model = "Blocked for safety."
    event = agent_event(errorCode="SAFETY", errorMessage=words_of_model, finishReason="SAFETY")
    text, _ = places(client, opened(client, event))
    assert words_of_model in text
    assert "safety filter stopped" not in text


def test_the_details_have_custom_metadata_and_whether_the_answer_was_interrupted(client):
    metadata = {"trace": "t-1", "scores": [1, 2], "devui_effects": {"c": "hint"}}
    event = agent_event({"text": "Wait"}, interrupted=True, customMetadata=metadata)
    text, page = places(client, opened(client, event))
    assert "interrupted yes" in text
    assert "trace t-1 custom metadata" in text
    assert "scores [1, 2] custom metadata" in text
    assert "<dt>devui_effects" not in page
