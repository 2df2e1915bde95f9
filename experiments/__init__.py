"""Runs from data to figures, written as a user would: only by the public door."""
