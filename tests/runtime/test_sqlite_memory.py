"""Memories in a SQLite file (adk-runtime 10.2)."""

import sqlite3

import pytest
from google.genai import types

from devui.runtime.events import Event
from devui.runtime.memory import SqliteMemoryService
from devui.runtime.sessions import Session
from tests.kit.oracle import needs_adk, run_adk

USER = {"app_name": "app", "user_id": "u"}


def session(*texts: str, name: str = "s") -> Session:
    events = [
        Event(author="user", message=text, id=text, timestamp=float(number))
        for number, text in enumerate(texts)
    ]
    return Session(id=name, **USER, events=[*events, Event(author="silent")])


async def search(service: SqliteMemoryService, query: str) -> list[str]:
    response = await service.search_memory(**USER, query=query)
    return [memory.content.parts[0].text for memory in response.memories]


@pytest.fixture(params=["on", "off"])
async def service(request, tmp_path):
    memory_service = SqliteMemoryService(tmp_path / "memory.db", fts=request.param)
    yield memory_service
    await memory_service.close()


async def test_events_are_found_by_shared_words_best_match_first(service):
    await service.add_session_to_memory(session("a red bike", "a RED car", "blue"))
    assert await search(service, "red car") == ["a RED car", "a red bike"]
    assert await search(service, "green") == []
    assert await search(service, ' "; -- ') == []


async def test_the_index_finds_whole_words(tmp_path):
    service = SqliteMemoryService(tmp_path / "memory.db")
    await service.add_session_to_memory(session("a car"))
    assert await search(service, "ca") == []
    assert await search(service, 'CAR OR "') == ["a car"]
    await service.close()


async def test_scripts_without_spaces_are_searched_too(service):
    await service.add_session_to_memory(session("私はPythonを使う", "下周二预订去伦敦的航班"))
    assert await search(service, "python") == ["私はPythonを使う"]
    assert await search(service, "伦敦") == ["下周二预订去伦敦的航班"]


async def test_combining_marks_do_not_end_a_word(service):
    await service.add_session_to_memory(session("मुझे हिन्दी पसंद है", "कमल का फूल", "❤\ufe0f love"))
    assert await search(service, "मु") == ["मुझे हिन्दी पसंद है"]
    assert await search(service, "हिन्दी") == ["मुझे हिन्दी पसंद है"]
    assert await search(service, "फूल, कमल") == ["कमल का फूल"]
    assert await search(service, "☀\ufe0f") == []
    assert await search(service, "❤\ufe0f LOVE") == ["❤\ufe0f love"]


async def test_combining_marks_belong_to_their_latin_letters(service):
    await service.add_session_to_memory(session("kom\u0303o", "a m o", "i\u0307stanbul"))
    assert await search(service, "KOM\u0303O") == ["kom\u0303o"]
    assert await search(service, "İstanbul") == ["i\u0307stanbul"]


async def test_a_memory_names_its_source_and_outlives_the_service(service):
    await service.add_session_to_memory(session("a word"))
    await service.close()
    [memory] = (await service.search_memory(**USER, query="word")).memories
    assert memory.author == "user"
    assert memory.timestamp.startswith("19")
    assert memory.custom_metadata == {"session_id": "s", "event_id": "a word"}


async def test_adding_an_event_again_replaces_it(service):
    await service.add_session_to_memory(session("old word"))
    changed = Event(id="old word", message="new word")
    await service.add_events_to_memory(**USER, events=[changed], session_id="s")
    assert await search(service, "word") == ["new word"]
    assert await search(service, "old") == []


async def test_memories_belong_to_the_user_and_can_be_deleted(service):
    await service.add_session_to_memory(session("word one", "word two"))
    other = {"app_name": "app", "user_id": "v"}
    assert (await service.search_memory(**other, query="word")).memories == []
    first = (await service.search_memory(**USER, query="one")).memories[0]
    await service.delete_memory(**other, memory_id=first.id)
    await service.delete_memory(**USER)
    assert len(await search(service, "word")) == 2
    await service.delete_memory(**USER, memory_id=first.id)
    assert await search(service, "word") == ["word two"]


async def test_thoughts_are_not_searched_and_long_texts_only_in_part(tmp_path):
    service = SqliteMemoryService(tmp_path / "memory.db", max_event_bytes=10, max_results=1)
    thinking = types.Part(text="secret", thought=True)
    event = Event(id="1", message=types.Content(parts=[thinking, types.Part(text="123456789 end")]))
    await service.add_events_to_memory(**USER, events=[event, Event(id="2", message="123456789")])
    assert await search(service, "secret") == await search(service, "end") == []
    assert len(await search(service, "123456789")) == 1
    await service.close()


async def test_lone_surrogates_are_stored_escaped(tmp_path):
    service = SqliteMemoryService(tmp_path / "memory.db")
    file = types.Part(file_data=types.FileData(file_uri="f\ud83d"))
    message = types.Content(parts=[types.Part(text="word \ud83d"), file])
    event = Event(id="1\ud83d", author="a\ud83d", message=message)
    await service.add_events_to_memory(**USER, events=[event])
    [memory] = (await service.search_memory(**USER, query="word \ud83d")).memories
    text, file_part = memory.content.parts
    assert (text.text, file_part.file_data.file_uri) == ("word \\ud83d", "f\\ud83d")
    assert memory.author == "a\\ud83d"
    assert event.content.parts[0].text == "word \ud83d"
    await service.close()


async def test_invalid_settings_and_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match="positive"):
        SqliteMemoryService(":memory:", max_results=0)
    connection = sqlite3.connect(tmp_path / "new.db")
    connection.executescript(
        """CREATE TABLE memory_events (id); CREATE TABLE adk_memory_metadata (key, value);
        INSERT INTO adk_memory_metadata VALUES ('schema_version', '2')"""
    )
    connection.close()
    service = SqliteMemoryService(tmp_path / "new.db")
    with pytest.raises(RuntimeError, match="version 2"):
        await search(service, "word")
    await service.close()


@needs_adk
async def test_google_adk_reads_and_writes_the_same_file(tmp_path):
    service = SqliteMemoryService(tmp_path / "memory.db")
    await service.add_session_to_memory(session("our word"))
    output = run_adk(
        """
        from google.adk.events import Event
        from google.adk.memory import SqliteMemoryService
        service = SqliteMemoryService(args[0])
        user = dict(app_name="app", user_id="u")
        print((await service.search_memory(**user, query="WORD")).memories[0].content.parts[0].text)
        event = Event(author="user", message="their word")
        await service.add_events_to_memory(**user, events=[event])
        """,
        tmp_path / "memory.db",
    )
    assert output == "our word\n"
    assert sorted(await search(service, "word")) == ["our word", "their word"]
    await service.close()
