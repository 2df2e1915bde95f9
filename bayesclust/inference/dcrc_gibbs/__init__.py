"""DCRC's posterior by Gibbs sampling: labels and noise, the weights at a point or drawn too."""

from bayesclust.inference.dcrc_gibbs.chain import DCRCChain, DCRCProblem

__all__ = ["DCRCChain", "DCRCProblem"]
