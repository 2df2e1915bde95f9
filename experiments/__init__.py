"""The papers' experiments, which use the package as its users do."""

from tools import kernel_cache

kernel_cache.use()
