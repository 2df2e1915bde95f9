"""MPCK-Means and its family (Bilenko, Basu and Mooney 2004): k-means with answers about pairs and with metrics learned."""
