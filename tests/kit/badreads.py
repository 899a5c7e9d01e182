"""A disk that can't be read: reads of the journal fail with EIO."""

import shutil
import subprocess
from pathlib import Path

COMPILER = shutil.which("cc")

_SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int fd) {
    char link[64], name[4096];
    const char *flag = getenv("BAD_READS");
    if (!flag || access(flag, F_OK)) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length < 0) return 0;
    name[length] = 0;
    return strstr(name, "/journal.db") != NULL;
}

ssize_t pread64(int fd, void *into, size_t count, off64_t offset) {
    static ssize_t (*real)(int, void *, size_t, off64_t);
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pread64");
    if (fails(fd)) { errno = EIO; return -1; }
    return real(fd, into, count, offset);
}

ssize_t pread(int fd, void *into, size_t count, off_t offset) {
    return pread64(fd, into, count, offset);
}
"""


class BadReads:
    """Makes reads fail between `begin` and `end`, in processes started with `environment`."""

    def __init__(self, folder: Path) -> None:
        self._flag = folder / "reads-fail"
        shim = folder / "badreads.so"
        command = [str(COMPILER), "-shared", "-fPIC", "-x", "c", "-", "-o", str(shim), "-ldl"]
        subprocess.run(command, input=_SHIM, text=True, check=True)
        self.environment = {"LD_PRELOAD": str(shim), "BAD_READS": str(self._flag)}

    def begin(self) -> None:
        self._flag.touch()

    def end(self) -> None:
        self._flag.unlink()
