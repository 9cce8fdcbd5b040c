"""Asking a run's telemetry: SQL, diagnosis, reports and traces (docs/telemetry.md)."""
