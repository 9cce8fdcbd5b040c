"""The diagnosis of a run: everything that stands out, and the blame of the critical paths."""

import json
from dataclasses import dataclass
from typing import Any

from octools.telemetry.communication import (
    find_late_sends,
    find_poor_correlation,
    find_wait_spikes,
)
from octools.telemetry.critical import Blame, blame
from octools.telemetry.database import Telemetry
from octools.telemetry.finding import Finding
from octools.telemetry.imbalance import find_imbalance
from octools.telemetry.slow import find_slow
from octools.telemetry.starved import find_crowded, find_starved

# How many places are named that critical paths lead over.
PLACES = 8
LEAST_SHARE = 0.001


@dataclass(frozen=True)
class Diagnosis:
    """Findings, the most expensive first, and the critical paths' blame."""

    findings: list[Finding]
    blame: Blame

    def to_json(self) -> str:
        """Write the diagnosis for programs."""
        paths = {
            "windows": self.blame.windows,
            "walked_through_events": self.blame.exact,
            "ranks_on_path": {str(n): c for n, c in sorted(self.blame.ranks_on_path.items())},
            "blame": [_place(*key, share) for key, share in self.blame.shares()[:PLACES]],
        }
        found = [finding.to_dict() for finding in self.findings]
        return json.dumps({"findings": found, "critical_paths": paths}, indent=1)

    def to_text(self) -> str:
        """Write the diagnosis for people."""
        lines = []
        for number, finding in enumerate(self.findings, 1):
            numbers = ", ".join(f"{key} {value:.4g}" for key, value in finding.evidence.items())
            lines += [
                f"{number}. {finding.kind.replace('_', ' ')}: {finding.where}; "
                f"costs about {100 * finding.cost:.0f} % of the time",
                f"   {finding.what}",
                f"   {numbers}",
                f"   {finding.query}",
                "",
            ]
        if not self.findings:
            lines += ["no performance problem found", ""]
        return "\n".join([*lines, *_blame_lines(self.blame)])


def diagnose(telemetry: Telemetry) -> Diagnosis:
    """Look for everything that makes a run slower than it needs to be."""
    telemetry.require_steps()
    slow = find_slow(telemetry)
    slow_ranks = {rank for finding in slow for rank in finding.ranks}
    late = find_late_sends(telemetry)
    spikes = find_wait_spikes(telemetry)
    findings = [*slow, *late, *spikes, *find_imbalance(telemetry, slow_ranks)]
    findings += [*find_starved(telemetry), *find_crowded(telemetry)]
    if not findings:
        findings += find_poor_correlation(telemetry)
    return Diagnosis(sorted(findings, key=lambda finding: -finding.cost), blame(telemetry))


def _place(rank: int, node: int, phase: str, name: str, share: float) -> dict[str, Any]:
    return {"rank": rank, "node": node, "phase": phase, "name": name, "share": share}


def _blame_lines(found: Blame) -> list[str]:
    how = f"{found.exact} from recorded events" if found.exact else "from totals per step"
    lines = [f"critical paths of {found.windows} windows ({how}) pass through:"]
    for (rank, node, phase, name), share in found.shares()[:PLACES]:
        if share < LEAST_SHARE:
            break
        lines.append(f"  {100 * share:5.1f} %  rank {rank} (node {node}), {phase} {name}".rstrip())
    return lines
