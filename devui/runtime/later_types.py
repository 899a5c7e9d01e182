"""Types that google-genai has since 2.0, for runtimes with an older version (devui's own).

With an older version, a field of such a type accepts anything, since that version never fills it.
"""

from typing import TYPE_CHECKING, Any

from google.genai import types

if TYPE_CHECKING:
    from google.genai.types import InteractionStatus, TranslationConfig
else:
    InteractionStatus = vars(types).get("InteractionStatus", Any)
    TranslationConfig = vars(types).get("TranslationConfig", Any)

__all__ = ["InteractionStatus", "TranslationConfig"]
