"""Benchmarks of the package: ``python -m benchmarks --help``."""

from tools import kernel_cache

kernel_cache.use()
