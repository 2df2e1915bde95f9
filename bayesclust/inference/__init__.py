"""How it is computed: samplers, ascents and limits, each in a file or room of its own."""
