"""Names for pieces of model requests, each stored once per session (dev-uis 4.1, item 5)."""

from hashlib import blake2b


def piece_name(text: str) -> str:
    """Return a hash of the piece's JSON text: pieces with equal names are equal everywhere."""
    return blake2b(text.encode(), digest_size=16).hexdigest()
