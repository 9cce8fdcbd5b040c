"""Conversion of parameter files of other codes."""
