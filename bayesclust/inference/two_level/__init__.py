"""Clusters that are mixtures: items in components, components in clusters."""
