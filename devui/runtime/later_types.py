"""Types that google-genai has had since 2.0, for runtimes beside an older one (devui's own).

There a field of such a type takes anything: nothing that the older library makes is of it.
"""

from typing import TYPE_CHECKING, Any

from google.genai import types

if TYPE_CHECKING:
    from google.genai.types import InteractionStatus, TranslationConfig
else:
    InteractionStatus = vars(types).get("InteractionStatus", Any)
    TranslationConfig = vars(types).get("TranslationConfig", Any)

__all__ = ["InteractionStatus", "TranslationConfig"]
