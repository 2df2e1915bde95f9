"""What is believed: families, priors of partitions, and the models as NumPyro programs."""

from bayesclust.models.joint import log_joint
from bayesclust.models.tvclust import tvclust

__all__ = ["log_joint", "tvclust"]
