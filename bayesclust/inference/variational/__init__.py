"""Truncated mean field for the Dirichlet-process mixture with side information, one idea per file.

Blei and Jordan (2006): q(z, theta, V, alpha, noise) = prod_i q(z_i) prod_k q(theta_k) q(V_k)
q(alpha) prod_s q(noise_s). Every factor but q(z_i) has its best value in closed form once the
responsibilities are given, so the bound is a function of the responsibilities (and of the base
measure's hyper-parameters, which are point values) alone.
"""
