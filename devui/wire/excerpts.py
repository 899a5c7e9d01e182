"""Excerpts of two long texts that show where the texts differ."""


def around_difference(text: str, other: str, most: int) -> str:
    """Return up to `most` characters of the text, from shortly before it differs from `other`."""
    if len(text) <= most:
        return text
    start = max(0, min(_common(text, other) - most // 4, len(text) - most))
    end = start + most
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _common(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    return next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
        min(len(one), len(other)),
    )
