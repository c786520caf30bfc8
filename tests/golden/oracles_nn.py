"""Oracles of the library-sized ops, mostly PyTorch in float64."""
ORACLES = {}
