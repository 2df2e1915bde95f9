"""DCRC (Pei, Fern, Rosales and Tjahja): variational EM, its limits, and Gibbs sampling."""
