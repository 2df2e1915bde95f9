"""The experiments of papers: their tables and figures from our own runs, with the printed numbers beside them.

Each paper is a package here, with a `Plan`, its `METHODS` and ``reproduce(plan, folder)``. They
share the file of cells (`cells`), the loop that fills it (`run`), the data (`sources`) and how
figures are saved (`drawing`). Labels simulate answers and score partitions; no method sees them.
"""
