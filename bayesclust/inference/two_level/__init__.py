"""Clusters that are mixtures: components seat the items, clusters group the components, answers speak of clusters."""
