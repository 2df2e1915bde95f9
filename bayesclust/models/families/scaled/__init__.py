"""Families whose items weigh gamma: exp(-gamma D(x, mu)) under a base measure that stays as it is while gamma grows."""
