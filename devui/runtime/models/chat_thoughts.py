"""Reading and sending back thoughts and signatures in chat completions (adk-runtime 9.4).

Services sign a model's thoughts before a tool call, and refuse the call's result unless the
signature is sent back. Claude signs blocks of thoughts; Gemini signs calls.
"""

import base64
import binascii
from collections.abc import Iterable
from typing import Any

from google.genai import types

from devui.runtime.models.chat_dialect import Json

_IN_ID = "__thought__"
"""Separates a call's id from the signature that litellm appends for clients that keep only ids."""


def thoughts(message: Json) -> list[types.Part]:
    """Return the thoughts in a message or a piece of one, in any form that services use."""
    if blocks := message.get("thinking_blocks"):
        return [part for block in blocks if (part := _from_block(block)) is not None]
    value = message.get("reasoning_content") or message.get("reasoning")
    return [types.Part(text=text, thought=True) for text in strings(value)]


def join_thoughts(pieces: Iterable[types.Part]) -> list[types.Part]:
    """Join the pieces of streamed thoughts; a signature ends each thought."""
    parts: list[types.Part] = []
    texts: list[str] = []
    for piece in pieces:
        texts.append(piece.text or "")
        if piece.thought_signature:
            parts.append(_thought(texts, piece.thought_signature))
            texts = []
    if any(texts):
        parts.append(_thought(texts))
    return parts


def blocks(parts: Iterable[types.Part]) -> list[Json]:
    """Return the signed thoughts as Claude's blocks; it refuses those without a signature."""
    return [
        {
            "type": "thinking",
            "thinking": part.text,
            "signature": signature_text(part.thought_signature),
        }
        for part in join_thoughts(parts)
        if part.text and part.thought_signature
    ]


def call_signature(call: Json) -> bytes | None:
    """Return a tool call's signature, from any of the fields where services put it."""
    holders = (
        (call.get("extra_content") or {}).get("google"),
        call.get("provider_specific_fields"),
        (call.get("function") or {}).get("provider_specific_fields"),
    )
    for holder in holders:
        if isinstance(holder, dict) and holder.get("thought_signature"):
            return _decode(holder["thought_signature"])
    return _in_id(call.get("id") or "")


def plain_id(call_id: str) -> str:
    """Return a call's id without the signature that litellm appends to it."""
    return call_id.partition(_IN_ID)[0] if _in_id(call_id) else call_id


def signature_text(signature: bytes) -> str:
    """Encode a signature in base64."""
    return base64.b64encode(signature).decode()


def strings(value: Any) -> list[str]:
    """Return the texts in a field that holds a string or a list of pieces."""
    if isinstance(value, str):
        return [value] if value else []
    pieces = value if isinstance(value, list) else []
    return [str(piece["text"]) for piece in pieces if isinstance(piece, dict) and piece.get("text")]


def _thought(texts: list[str], signature: bytes | None = None) -> types.Part:
    return types.Part(text="".join(texts), thought=True, thought_signature=signature)


def _from_block(block: Any) -> types.Part | None:
    """Return the thought in a block, or None if it is redacted or empty."""
    if not isinstance(block, dict) or block.get("type") != "thinking":
        return None
    text, signature = block.get("thinking") or "", block.get("signature")
    if not text and not signature:
        return None
    raw_signature = (_decode(signature) or str(signature).encode()) if signature else None
    return _thought([text], raw_signature)


def _decode(signature: Any) -> bytes | None:
    if isinstance(signature, bytes):
        return signature
    try:
        return base64.b64decode(signature, validate=True) or None
    except (binascii.Error, TypeError, ValueError):
        return None


def _in_id(call_id: str) -> bytes | None:
    _, mark, suffix = call_id.partition(_IN_ID)
    standard = suffix.replace("-", "+").replace("_", "/")
    return _decode(standard + "=" * (-len(standard) % 4)) if mark else None
