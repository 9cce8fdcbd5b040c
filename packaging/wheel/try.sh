#!/usr/bin/env bash
# Installs a wheel into a new virtual environment, runs an example to its plot, and prints the times
# of both. Checks the commands that a wheel offers and refuses.
#
#   packaging/wheel/try.sh WHEEL [PYTHON]
set -euo pipefail
wheel=$(readlink -f "$1") python=${2:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}

"$python" -m venv venv
install() { venv/bin/pip install --quiet --disable-pip-version-check "$wheel" < /dev/null; }
draw() { venv/bin/octant examples sod && venv/bin/octant run sod.toml > run.log; }
TIMEFORMAT="pip install: %R s, of which %U s processor time"
time install
TIMEFORMAT="example and plot: %R s, of which %U s processor time"
time draw || { cat run.log && exit 1; }
ls output/sod/*.png

venv/bin/octant --version
venv/bin/octant check sod.toml > /dev/null
venv/bin/octant profile output/sod > /dev/null
venv/bin/python - << END
import octant
simulation = octant.Simulation("sod.toml", {"time.end": 0.05}, output="output/python")
simulation.run()
print("octant.Simulation:", simulation.step_count, "steps, density up to",
      simulation.level(0).read("density").max())
END
if venv/bin/octant -n 2 run sod.toml 2> refusal; then
  echo "octant -n 2 must be refused" && exit 1
fi
cat refusal
du -sh venv/lib/python3*/site-packages/octant*
