"""Inference: samplers, variational methods and limits."""
