"""A lock on a file that ends with its process, however that ends (R39)."""

import fcntl
import os
from pathlib import Path


class FileLock:
    """Held from `take` to `release`; each object is a holder of its own, also in one process."""

    def __init__(self, path: Path, mode: int) -> None:
        """`path` is made with `mode` if it is not there, and stays: to remove it would let two
        processes hold locks on two files of one name."""
        self._path = path
        self._mode = mode
        self._file: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object has the lock."""
        return self._file is not None

    def take(self) -> bool:
        """Take the lock without waiting; whether that worked. Raises OSError."""
        # Closed on exec, so that no worker goes on holding it.
        file = os.open(
            self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, self._mode
        )
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        except OSError:
            os.close(file)
            raise
        self._file = file
        return True

    def release(self) -> None:
        """Let others have it; nothing if it is not held."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
