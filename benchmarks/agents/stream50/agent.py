"""The scenario `stream50`, served; BENCH_IMPL names another runtime."""

import os

from benchmarks.workload import Runtime

root_agent = Runtime(os.environ.get("BENCH_IMPL", "devui.runtime")).bench_agent("stream50")
