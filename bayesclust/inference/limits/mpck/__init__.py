"""MPCK-Means (Bilenko, Basu and Mooney 2004): `links`, `metric` and `descend`."""
