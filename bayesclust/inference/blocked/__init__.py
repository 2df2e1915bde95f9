"""Blocked sampling: given parameters, weights and noise, all items of one colour move at once."""
