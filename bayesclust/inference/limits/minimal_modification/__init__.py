"""Minimal weighted modification of a partition under constraints: the fourth system of the papers (IAC).

`groups` finds anchors and super-instances, `moves` what moving these costs, `problem` states the
optimisation problem, `enumeration` and `cp_sat` solve it, `solve` decides which of them, `conflict`
explains where nothing will do.
"""
