"""The program of a worker in an interpreter without devui, run as a script.

`PYTHON -P …/devui/worker/standalone.py --agents DIR …`, with the options of `python -m
devui.worker`. The package is loaded by its path, from the folder that contains this file, so that
nothing installed beside it gets onto the import path of the agents' interpreter. Processes that
agent code starts with multiprocessing execute this module, too, and so find the package.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Final

PACKAGE: Final = "devui"


def provide(folder: Path) -> None:
    """Register the package in this folder as `devui`, unless `devui` is already imported."""
    if PACKAGE in sys.modules:
        return
    spec = spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"{folder} is not a package")
    module = sys.modules[PACKAGE] = module_from_spec(spec)
    spec.loader.exec_module(module)


provide(Path(__file__).resolve().parents[1])

if __name__ == "__main__":
    from devui.worker.__main__ import main

    main()
