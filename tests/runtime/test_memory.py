"""The in-memory memory service (adk-runtime 10.2)."""

from devui.runtime.events import Event
from devui.runtime.memory import InMemoryMemoryService
from devui.runtime.sessions import Session

USER = {"app_name": "app", "user_id": "u"}


def session(*texts: str, name: str = "s") -> Session:
    events = [Event(author="user", message=text, id=text, timestamp=0.0) for text in texts]
    return Session(id=name, **USER, events=[*events, Event(author="silent")])


async def search(service: InMemoryMemoryService, query: str) -> list[str]:
    response = await service.search_memory(**USER, query=query)
    return [memory.content.parts[0].text for memory in response.memories]


async def test_events_are_found_by_shared_words_best_match_first():
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session("a red bike", "a RED car", "blue"))
    assert await search(service, "red car") == ["a RED car", "a red bike"]
    assert await search(service, "ca") == []


async def test_scripts_without_spaces_are_searched_too():
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session("私はPythonを使う", "下周二预订去伦敦的航班"))
    assert await search(service, "python") == ["私はPythonを使う"]
    assert await search(service, "伦敦") == ["下周二预订去伦敦的航班"]


async def test_combining_marks_do_not_end_a_word():
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session("मुझे हिन्दी पसंद है", "कमल का फूल", "❤\ufe0f love"))
    assert await search(service, "मु") == ["मुझे हिन्दी पसंद है"]
    assert await search(service, "हिन्दी") == ["मुझे हिन्दी पसंद है"]
    assert await search(service, "फूल, कमल") == ["कमल का फूल"]
    assert await search(service, "☀\ufe0f") == []
    assert await search(service, "❤\ufe0f LOVE") == ["❤\ufe0f love"]


async def test_combining_marks_belong_to_their_latin_letters():
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session("kom\u0303o", "a m o", "i\u0307stanbul"))
    assert await search(service, "KOM\u0303O") == ["kom\u0303o"]
    assert await search(service, "İstanbul") == ["i\u0307stanbul"]


async def test_at_most_ten_memories_are_returned():
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session(*[f"word {n}" for n in range(12)]))
    assert len(await search(service, "word")) == 10


async def test_adding_a_session_again_replaces_it():
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session("old word"))
    await service.add_session_to_memory(session("new word"))
    assert await search(service, "word") == ["new word"]


async def test_memories_belong_to_the_user():
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session("word"))
    other = await service.search_memory(app_name="app", user_id="v", query="word")
    assert other.memories == []


async def test_a_deleted_memory_does_not_come_back():
    service = InMemoryMemoryService()
    await service.add_session_to_memory(session("one word", "two word"))
    await service.delete_memory(**USER, memory_id="one word")
    await service.delete_memory(**USER)
    await service.add_session_to_memory(session("one word", "two word"))
    assert await search(service, "word") == ["two word"]


async def test_an_event_is_added_once():
    service = InMemoryMemoryService()
    event = Event(message="word", id="1")
    for _ in range(2):
        await service.add_events_to_memory(**USER, events=[event], session_id="s")
    assert await search(service, "word") == ["word"]


async def test_an_event_given_twice_in_one_call_is_added_once():
    service = InMemoryMemoryService()
    one, two = session("a bike", "two bikes and a bike").events[:2]
    await service.add_events_to_memory(**USER, events=[one, two, one])
    assert await search(service, "bike") == ["a bike", "two bikes and a bike"]
