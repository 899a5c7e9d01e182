"""The scenario `text` as an app; BENCH_IMPL selects another runtime."""

import os

from benchmarks.workload import Runtime

root_agent = Runtime(os.environ.get("BENCH_IMPL", "devui.runtime")).bench_agent("text")
