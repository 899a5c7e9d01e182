"""Two long texts that differ, cut so that the difference is seen."""


def around_difference(text: str, other: str, most: int) -> str:
    """At most so many characters of the text, from shortly before it differs from the other."""
    if len(text) <= most:
        return text
    start = max(0, min(_common(text, other) - most // 4, len(text) - most))
    end = start + most
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _common(one: str, other: str) -> int:
    """How many characters at their begin are the same."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
