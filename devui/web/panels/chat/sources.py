"""The sources of an answer: grounding, citations, and pages that the model read."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from typing import Any, Final, NamedTuple

from devui.web.panels.chat.content_parts import Source, SourcesPart
from devui.web.text.deceptive_characters import visible
from devui.web.text.formats import clipped, web_address
from devui.wire.events import Event, Fields, fields_in

_READ: Final = frozenset({"", "SUCCESS", "UNSPECIFIED"})
_UNREAD: Final[Mapping[str, str]] = {
    "ERROR": "couldn't be retrieved",
    "PAYWALL": "behind a paywall",
    "UNSAFE": "blocked as unsafe",
}
"""Why a model couldn't read a page, by the status of its retrieval."""


def sources_of(event: Event) -> SourcesPart | None:
    """Return the searches and sources of an answer; None if it names none."""
    searches = fields_in(event.fields.get("groundingMetadata")).get("webSearchQueries")
    queries = tuple(visible(str(each)) for each in _list(searches))
    sources = _number(event).sources
    return SourcesPart(queries, tuple(sources)) if sources or queries else None


def texts_with_marks(event: Event) -> dict[int, str]:
    """Return the texts of an answer with a mark, such as `[2]`, after each passage that has
    sources, by the position of their parts; {} without such passages."""
    grounding = fields_in(event.fields.get("groundingMetadata"))
    marks = defaultdict[int, list[tuple[int, str]]](list)
    numbers = _number(event).of_chunks if grounding.get("groundingSupports") else {}
    for support in map(fields_in, _list(grounding.get("groundingSupports"))):
        segment = fields_in(support.get("segment"))
        place = segment.get("partIndex") or 0
        chunks = _list(support.get("groundingChunkIndices"))
        used = dict.fromkeys(numbers[each] for each in chunks if each in numbers)
        if used and isinstance(place, int) and place < len(event.parts):
            end = _end_of(segment, event.parts[place].text or "")
            if end is not None:
                # Markdown would take brackets for a link, and escaped ones for a formula.
                marks[place].append((end, "".join(f"&#91;{number}&#93;" for number in used)))
    return {place: _marked(event.parts[place].text or "", each) for place, each in marks.items()}


def _end_of(segment: Fields, text: str) -> int | None:
    """Return where a passage ends in a text; None if it isn't there. The segment counts bytes of
    UTF-8."""
    passage, end = str(segment.get("text") or ""), segment.get("endIndex")
    if isinstance(end, int):
        before = text.encode()[:end].decode(errors="ignore")
        if before.endswith(passage) and len(before.encode()) == end:
            return len(before)
    start = text.find(passage) if passage else -1
    return None if start < 0 else start + len(passage)


def _marked(text: str, marks: Iterable[tuple[int, str]]) -> str:
    """Insert each mark at its place, from the last to the first."""
    for place, mark in sorted(marks, key=itemgetter(0), reverse=True):
        text = f"{text[:place]} {mark}{text[place:]}"
    return text


class _Numbered(NamedTuple):
    sources: list[Source]
    of_chunks: dict[int, int]
    """The number of the source, from 1, of each grounding chunk."""


def _number(event: Event) -> _Numbered:
    """Return each source once, in the order in which they are numbered."""
    chunks = fields_in(event.fields.get("groundingMetadata")).get("groundingChunks")
    citations = fields_in(event.fields.get("citationMetadata"))
    problems = dict(_retrievals(event))
    entries = [
        *((place, _of_chunk(fields_in(each))) for place, each in enumerate(_list(chunks))),
        *((None, fields_in(each)) for each in _list(citations.get("citations"))),
        *((None, {"uri": address}) for address in problems),
    ]
    numbers: dict[str, int] = {}
    numbered = _Numbered([], {})
    for place, each in entries:
        address, title = str(each.get("uri") or ""), str(each.get("title") or "")
        if not (address or title):
            continue
        number = numbers.get(address) if address else None
        if number is None:
            label, problem = visible(clipped(title or address)), problems.get(address, "")
            source = Source(label, web_address(address), visible(clipped(address)), problem)
            numbered.sources.append(source)
            number = numbers[address] = len(numbered.sources)
        if place is not None:
            numbered.of_chunks[place] = number
    return numbered


def _retrievals(event: Event) -> Iterator[tuple[str, str]]:
    """Yield the pages that the model retrieved, and why it couldn't read them, if so."""
    pages = fields_in(event.fields.get("urlContextMetadata")).get("urlMetadata")
    for page in map(fields_in, _list(pages)):
        status = str(page.get("urlRetrievalStatus") or "").removeprefix("URL_RETRIEVAL_STATUS_")
        problem = "" if status in _READ else _UNREAD.get(status, status.lower().replace("_", " "))
        yield str(page.get("retrievedUrl") or ""), visible(problem)


def _of_chunk(chunk: Fields) -> Fields:
    kinds = (fields_in(chunk.get(kind)) for kind in ("web", "retrievedContext", "maps"))
    return next(filter(None, kinds), {})


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
