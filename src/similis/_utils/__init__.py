"""Private helpers shared by all packages: threads, files, journal, cache, decompositions, messages."""
