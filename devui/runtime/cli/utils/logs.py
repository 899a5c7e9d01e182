"""Where logs go, for users' programs that run agents (devui's own, at ADK's path)."""

import logging
import sys
import tempfile
import time
from pathlib import Path

LOGGING_FORMAT = "%(asctime)s - %(levelname)s - %(filename)s:%(lineno)d - %(message)s"
"""The format of a line of the log."""


def setup_adk_logger(level: int = logging.INFO) -> None:
    """Write logs to stderr; those of the runtime, from `level` up."""
    logging.basicConfig(level=level, format=LOGGING_FORMAT)
    logging.getLogger("devui").setLevel(level)


def log_to_tmp_folder(
    level: int = logging.INFO,
    *,
    sub_folder: str = "agents_log",
    log_file_prefix: str = "agent",
    log_file_timestamp: str | None = None,
) -> str:
    """Redirect all logs from `level` up to a new file; none go to stderr.

    Args:
        level: The lowest level to write, of `logging`.
        sub_folder: A folder below the system's temporary one; created if it is missing.
        log_file_prefix: The beginning of the file's name.
        log_file_timestamp: The rest of the name; by default, the time.

    Returns:
        The path of the file, which is also printed.
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
