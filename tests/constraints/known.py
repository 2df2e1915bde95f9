"""Noise models of known rates that tests go through; a file of one's own may add to them."""

from bayesclust.constraints import ConfusionNoise, LinkNoise, UniformNoise

KNOWN = [
    LinkNoise(p=0.9, q=0.7),
    LinkNoise(p=(2.0, 3.0), q=0.7),
    UniformNoise(eps=0.2),
    ConfusionNoise(matrix=[[0.8, 0.1, 0.1], [0.0, 0.9, 0.1], [0.2, 0.3, 0.5]]),
]
