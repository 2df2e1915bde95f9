"""Mean field for mixtures with side information (Blei and Jordan 2006)."""
