"""The parallel sampler: given parameters, weights and noise, all items of one colour move at once.

On all devices.
"""

from bayesclust.inference.blocked.chains import BlockedChains

__all__ = ["BlockedChains"]
