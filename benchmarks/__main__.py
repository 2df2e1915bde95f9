"""Run the benchmarks: ``python -m benchmarks [name ...]``; results go to benchmarks/results.json."""

from __future__ import annotations

import json
import platform
import sys
from importlib import import_module
from pathlib import Path

from threadpoolctl import threadpool_limits

NAMES = ("collapsed_scan", "gibbs_scan", "limit_pass", "minimal_modification", "mpck_means", "npu", "point_estimate")


def main() -> None:
    """Run those named, or all, on one thread."""
    results = {"machine": platform.machine(), "python": platform.python_version()}
    with threadpool_limits(1):
        for name in sys.argv[1:] or NAMES:
            results[name] = import_module(f"benchmarks.{name}").run()
    path = Path(__file__).parent / "results.json"
    path.write_text(json.dumps(results, indent=1), encoding="utf-8")
    print(f"\nWritten: {path}")


if __name__ == "__main__":
    main()
