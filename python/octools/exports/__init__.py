"""Export of snapshots to the formats of other programs."""
