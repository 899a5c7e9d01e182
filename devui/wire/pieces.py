"""Names of pieces of requests to models, which a session keeps once (dev-uis 4.1, item 5)."""

from hashlib import blake2b


def piece_name(text: str) -> str:
    """The name of a piece, a hash of its JSON text: two of one name say the same, everywhere."""
    return blake2b(text.encode(), digest_size=16).hexdigest()
