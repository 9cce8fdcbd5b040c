"""Runs followed while they run, on the terminal and on a local page."""
