"""Benchmarks: what the package does beside its peers and beside plain versions of itself, in one run."""
