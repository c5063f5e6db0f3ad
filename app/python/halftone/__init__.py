"""Mixed-precision conversion of neural networks: the programs of Halftone."""
