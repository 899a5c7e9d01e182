"""Plays cases on one runtime and writes their records as JSON.

python -m tests.differential.perform google.adk            all cases
python -m tests.differential.perform devui.runtime NAME    those whose names contain NAME
"""

import asyncio
import gc
import json
import logging
import sys
import traceback

from tests.differential.cases import CASES
from tests.differential.normal import Json, normalized
from tests.differential.stage import perform


def played(root: str, name: str) -> Json:
    """Return the normalized record of a case, and the same without its difference if separable.

    If the case fails, return its traceback; if a package is missing, its name.
    """
    case = CASES[name]
    if case.missing:
        return {"missing": case.missing}
    try:
        record = asyncio.run(perform(root, case.play))
        whole = {"all": normalized(record, case)}
        rest = {"rest": normalized(record, case, without=True)} if case.is_separable else {}
        return whole | rest
    except Exception:  # noqa: BLE001  one case must not spoil the others
        return {"broken": traceback.format_exc()}


def main() -> None:
    """Play the cases named on the command line."""
    root, *parts = sys.argv[1:]
    logging.disable()
    names = [name for name in CASES if not parts or any(part in name for part in parts)]
    gc.freeze()  # imported modules aren't garbage
    gc.set_threshold(20_000, 20, 20)
    # As text, a record takes a tenth of the memory. json.dump would write millions of fragments,
    # because it never uses the C encoder.
    texts = (json.dumps({name: played(root, name)})[1:-1] for name in names)
    sys.stdout.write("{" + ", ".join(texts) + "}")


if __name__ == "__main__":
    main()
