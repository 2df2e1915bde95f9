"""Mean field for mixtures with side information (Blei and Jordan 2006).

q(z, theta, weights, noise) = prod_i q(z_i) prod_k q(theta_k) q(weights and their parameters) prod_s
q(noise_s). Every factor but q(z_i) has its best value in closed form once the responsibilities are
given, so the bound is a function of the responsibilities (and of the base measure's
hyper-parameters, which are point values) alone.
"""
