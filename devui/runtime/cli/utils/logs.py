"""Where logs go, for programs of one's own that run agents (devui's own, at ADK's path)."""

import logging
import sys
import tempfile
import time
from pathlib import Path

LOGGING_FORMAT = "%(asctime)s - %(levelname)s - %(filename)s:%(lineno)d - %(message)s"
"""How a line of the log is written."""


def setup_adk_logger(level: int = logging.INFO) -> None:
    """Write logs to stderr, those of the runtime from `level` on."""
    logging.basicConfig(level=level, format=LOGGING_FORMAT)
    logging.getLogger("devui").setLevel(level)


def log_to_tmp_folder(
    level: int = logging.INFO,
    *,
    sub_folder: str = "agents_log",
    log_file_prefix: str = "agent",
    log_file_timestamp: str | None = None,
) -> str:
    """Write all logs from `level` on to a new file, and none to stderr any more.

    Args:
        level: What is written, a level of `logging`.
        sub_folder: A folder below the system's one for temporary files; made if it is missing.
        log_file_prefix: How the file's name begins.
        log_file_timestamp: How it goes on; the time by default.

    Returns:
        The path of the file, which is printed, too.
    """
    folder = Path(tempfile.gettempdir()) / sub_folder
    folder.mkdir(parents=True, exist_ok=True)
    stamp = log_file_timestamp or time.strftime("%Y%m%d_%H%M%S")
    path = folder / f"{log_file_prefix}.{stamp}.log"
    logging.basicConfig(
        level=level,
        format=LOGGING_FORMAT,
        handlers=[logging.FileHandler(path, mode="w", encoding="utf-8")],
        force=True,
    )
    sys.stdout.write(f"Logs go to {path}\n")
    return str(path)
