"""Advice for a module that can't be imported: install a package, or start devui elsewhere.

Workers use it for an import that failed, and `devui doctor` for one that would fail.
"""

import re
from pathlib import Path
from typing import Final

_DISTRIBUTIONS: Final = {
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "Crypto": "pycryptodome",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "pymupdf",
    "git": "gitpython",
    "google.cloud.sql": "cloud-sql-python-connector",
    "google.oauth2": "google-auth",
    "google.protobuf": "protobuf",
    "googleapiclient": "google-api-python-client",
    "jose": "python-jose",
    "jwt": "pyjwt",
    "MySQLdb": "mysqlclient",
    "PIL": "pillow",
    "pkg_resources": "setuptools",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "telegram": "python-telegram-bot",
    "vertexai": "google-cloud-aiplatform",
    "yaml": "pyyaml",
}
"""By module: the package that provides it, where the names differ."""
_VERSION: Final = re.compile(r"_v\d\w*$")
"""Matches the version in `google.cloud.speech_v1`, which google-cloud-speech provides."""
_SHARED: Final = {"azure": 1, "google": 2, "google.cloud": 3, "opentelemetry": 1}
"""Namespaces that many packages share, with the number of name parts that identify the package."""


def owner(module: str) -> str:
    """Return the part of a module's name that one package owns: `google.cloud.storage`, `yaml`."""
    parts = module.split(".")
    length = _SHARED.get(".".join(parts[:2])) or _SHARED.get(parts[0], 1)
    return ".".join(parts[:length])


def distribution(module: str) -> str | None:
    """Return the package to install for a module; None if the name doesn't tell."""
    name = owner(module)
    if name in _SHARED:
        return None
    return _DISTRIBUTIONS.get(name) or re.sub(r"[._]", "-", _VERSION.sub("", name))


def own_place(module: str, file: Path, agents: Path) -> str | None:
    """Say what to do if the module belongs to the project and isn't a package to install.

    Return None if it doesn't seem to belong to the project, and "" if `agents` contains it, so that
    only the module's own file can be missing.

    Args:
        module: The name that can't be imported.
        file: The file that imports it, somewhere in `agents`.
        agents: The folder that devui was started with, which is on the import path.
    """
    top = module.partition(".")[0]
    if _holds(agents, top) or (agents / top).is_dir():
        return ""
    for level, folder in enumerate(file.parents, 1):
        if folder.name == top:
            return f"It is the folder {folder}. Start devui in {folder.parent} instead."
        if folder == agents:
            break
        if _holds(folder, top):
            place = f"{'.' * level}{module}"
            return f"It is in {folder}. Use a relative import: `from {place} import ...`."
    if _holds(agents.parent, top):
        above = agents.parent
        return f"It is in {above}, not on the import path. Start devui with PYTHONPATH={above}."
    return None


def _holds(folder: Path, module: str) -> bool:
    """Return whether a folder contains the module, or a package with code."""
    package = folder / module
    return (folder / f"{module}.py").is_file() or (
        package.is_dir() and next(package.glob("*.py"), None) is not None
    )
