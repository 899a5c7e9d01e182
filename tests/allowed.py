"""The exceptions to the house's rules, each with its reason. A test fails when one is not needed.

A key is `path:Class.function`, or the path alone for a whole file.
"""

from collections.abc import Mapping

MODULE_LINES: dict[str, str] = {}
FUNCTION_LINES: dict[str, str] = {}
COMPLEXITY: dict[str, str] = {}
NESTING: dict[str, str] = {}
POSITIONAL: dict[str, str] = {}
BROAD_EXCEPT: dict[str, str] = {}
LITERAL_GETATTR: dict[str, str] = {}
DYNAMIC_CODE: dict[str, str] = {}
BUILT_SQL: dict[str, str] = {}
SAFE_MARKUP: dict[str, str] = {}


def settle(found: Mapping[str, str], reasons: Mapping[str, str], advice: str) -> None:
    """Fail for everything found that has no reason, and for every reason that finds nothing."""
    wrong = [message for key, message in found.items() if key not in reasons]
    unused = [
        f"tests/allowed.py: {key} needs no exception any more" for key in reasons.keys() - found
    ]
    assert not wrong, f"{advice}\n" + "\n".join(wrong)
    assert not unused, "\n".join(unused)
