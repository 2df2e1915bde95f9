"""RDP-means with several centres per cluster: the small-variance limit of clusters that are mixtures."""
