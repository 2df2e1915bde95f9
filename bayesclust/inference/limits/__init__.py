"""Deterministic algorithms that are limits of the probabilistic models."""
