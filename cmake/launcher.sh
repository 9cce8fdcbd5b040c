# The steps of ./octant, which sources this file and sets the variables.
# shellcheck shell=bash disable=SC2154

fail() {
  echo "octant: $*" >&2
  exit 2
}

# The launcher's own description, with octools' commands behind those of the program.
usage() {
  sed -E 's/^([a-z_-]+ +)[^ ]+ +/  \1/' "$root/$tools" |
    sed '/^  bench /r /dev/stdin' <(sed -n '2,/^set -/s/^# \{0,1\}//p' "$root/octant")
}

# Describes a command of the launcher itself; builds nothing.
explain() {
  case $1 in
    build)
      cat << END
./octant build: compile the program, its benchmarks and its unit tests, in build/$preset.

  OCTANT_PRESET   release (default), debug, asan, coverage, apart, portable, cuda, cuda-alone, hip
  OCTANT_JOBS     number of parallel compiler processes (now $jobs)
  OCTANT_KOKKOS   directory of an installed Kokkos >= 4.5
  OCTANT_DUCC     directory of the DUCC 0.42 source
  OCTANT_CACHE    directory for Kokkos and the DUCC source (default: ~/.cache/octant)

Commands that need the program build it themselves. docs/building.md has the details.
END
      ;;
    test)
      cat << END
./octant test [PART ...]: build, and run all tests or some parts of them.

  unit         classes and functions, also on 2 to 4 ranks
  python       the Python tools
  cli          commands, files, signals
  physics      analytic solutions, conservation, bitwise reproducibility
  cases        problems that users of other codes have reported
  invariance   examples in other units, reflected, translated, with other block sizes
  faults       failing disks, killed processes, corrupt files
  extending    worked examples of docs/extending.md
  bindings     Python bindings
  performance  instruction counts of hot kernels; run only if named, requires valgrind

OCTANT_DATA and OCTANT_CASES name directories of reference data; tests without their data are
skipped.
A single test file: cd tests/physics && ../../.octant/venv/bin/python -m pytest -q test_sod.py
END
      ;;
    manual)
      cat << END
./octant manual: write the manual as a web site, build/$preset/manual/html/index.html.

This builds the program, installs Sphinx into .octant/venv and Doxygen, and collects docs/, the
parameters, help of commands, and interfaces in Python and C++. A broken link is an error.
END
      ;;
    bench)
      echo "./octant [-n RANKS [-t THREADS]] bench NAME [OPTIONS]: run a benchmark."
      echo
      sed -nE 's/^ *Benchmark\{"([a-z-]+)", "([^"]*)",.*/\1\t\2/p' "$root/bench/bench.cpp" |
        awk -F '\t' '{ printf "  %-13s %s\n", $1, $2 }'
      echo
      echo "./octant bench NAME -h lists the options of a benchmark (this builds the benchmarks)."
      echo "docs/benchmarks.md describes the benchmarks, docs/performance.md their results."
      ;;
  esac
}

# octools reads the same list.
tools=python/octools/commands.txt
is_tool() { cut -d ' ' -f 1 "$root/$tools" | grep -qxF -e "$1"; }

positive_number() {
  [[ $2 =~ ^[1-9][0-9]*$ ]] || fail "$1 $2: expected a positive number"
  echo "$2"
}

# --- What a build needs ---

# The packaging system of this machine, a column of packages.txt; nothing if it has none of them.
packager() {
  local name
  for name in apt dnf pacman brew conda; do
    if command -v "${name/apt/dpkg-query}" > /dev/null; then
      echo "$name"
      return
    fi
  done
}

# The words by which a packaging system installs.
install_with() {
  case $1 in
    apt) echo sudo apt-get install ;;
    dnf) echo sudo dnf install ;;
    pacman) echo sudo pacman -S --needed ;;
    brew) echo brew install ;;
    conda) echo conda install -c conda-forge ;;
  esac
}

# The packages that a build needs, by the names of a packaging system.
packages() {
  awk -v names="$1" -v preset="$preset" '
    $2 == "for" { for (n = 3; n <= NF; ++n) if ($n == names) column = n - 1 }
    BEGIN {
      wanted["all"] = 1
      wanted["rest"] = preset != "cuda-alone"
      wanted["wheel"] = preset == "wheel"
      wanted["mpi"] = wanted["rest"] && !wanted["wheel"]
    }
    !/^#/ && $column != "-" && wanted[$1] { print $column }' \
    "$root/cmake/packages.txt"
}

# Installs missing Debian packages (those given, else what a build needs), if necessary after up to
# five minutes in which another process installs others, or says in `advice` which they are where
# nobody may install, or on another system: there the build is tried all the same.
advice=''
install_packages() {
  local packager
  packager=$(packager)
  if [[ $packager != apt ]]; then
    [[ ! $packager || $# -gt 0 ]] ||
      advice="Try to run: $(install_with "$packager") $(packages "$packager" | xargs)"
    return 0
  fi
  local missing=() package as_root=() wanted=${*:-$(packages apt)}
  for package in $wanted; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null) == installed ]] ||
      missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  advice="Try to run: $(install_with apt) ${missing[*]}"
  if ((EUID != 0)); then
    sudo -n true 2> /dev/null || return 0
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]}" >&2
  "${as_root[@]}" apt-get -qq update >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 \
    install --no-install-recommends "${missing[@]}" > /dev/null < /dev/null
}

# Installs octools into a virtual environment of this clone whenever its description has changed.
prepare_python() {
  [[ -e $root/python/pyproject.toml ]] || fail "$root/python/pyproject.toml is missing"
  python_is_ready && return
  mkdir -p "$root/.octant"
  (
    lock "installs the Python tools into $venv"
    python_is_ready || install_python_tools
  ) 9> "$root/.octant/.lock" || exit 2
}

python_is_ready() { python_description | cmp -s - "$venv/installed"; }

install_python_tools() {
  echo "Installing the Python tools into $venv" >&2
  if [[ ! -x $venv/bin/pip ]]; then
    install_packages
    python3 -m venv "$venv" || fail "cannot create $venv. $advice"
  fi
  # octools, whose distribution had its name before, would be there twice.
  "$venv/bin/pip" uninstall --quiet --yes octools < /dev/null > /dev/null 2>&1 || true
  if ! install_pinned requirements.txt ||
    ! pip_install --no-deps --no-build-isolation --editable "$root/python"; then
    fail "the Python tools could not be installed completely; the next call tries again"
  fi
  python_description > "$venv/installed"
}

python_description() { cat "$root/python/pyproject.toml" "$root/python/requirements.txt"; }
install_pinned() { pip_install --require-hashes --requirement "$root/python/$1" "${@:2}"; }
pip_install() {
  "$venv/bin/pip" install --quiet --no-compile --disable-pip-version-check "$@" < /dev/null
}

# Gets what some tests look at results with: a browser, other readers of what Octant writes, and the
# library that writes Silo.
# Without them those tests skip themselves and say so.
prepare_readers() {
  local wanted=$root/python/requirements-readers.txt got=$venv/readers
  prepare_python
  prepare_oldest_readers
  ! cmp -s "$wanted" "$got" || return 0
  install_packages chromium-headless-shell || true
  install_packages libsiloh5-0 || true
  if install_pinned requirements-readers.txt; then
    cp "$wanted" "$got"
  fi
}

# Gets the oldest VTK that there is for this Python, beside the newest.
prepare_oldest_readers() {
  local wanted=$root/python/requirements-oldest.txt got=$venv/oldest
  ! cmp -s "$wanted" "$got/pinned" || return 0
  if install_pinned requirements-oldest.txt --no-deps --upgrade --target "$got"; then
    cp "$wanted" "$got/pinned"
  fi
}

# Installs the packages of python/requirements-NAME.txt, once.
install_once() {
  local wanted=$root/python/requirements-$1.txt got=$venv/$1
  prepare_python
  ! cmp -s "$wanted" "$got" || return 0
  install_pinned "requirements-$1.txt" || return 1
  cp "$wanted" "$got"
}

# Gets what makes a site of the manual. Without Doxygen, the site has no C++ reference and says so.
prepare_manual() { install_packages doxygen || true; install_once manual; }

write_manual() {
  build_program
  prepare_manual || fail "the packages for building the manual could not be installed completely"
  "$venv/bin/python" "$root/docs/site/build.py" "$build"
}

# --- Building ---

# Says what the first build will do for the given targets, or all, and how long that takes: so many
# seconds of one core for what comes before the sources, and for each of them.
announce() {
  local before=80 each=2 folders=(src) sources
  (($#)) || folders+=(bench tests)
  [[ "$*" != *octant-bench* ]] || folders+=(bench)
  sources=$(cd "$root" && find "${folders[@]}" -name '*.cpp' | wc -l)
  echo "First build in build/$preset: installs missing Debian packages and Kokkos," \
    "then compiles $sources source files. This takes about" \
    "$(((before + sources * each) / jobs / 60 + 1)) minutes on $jobs idle cores, once;" \
    "an estimate from the measured speed follows." >&2
}

configure() {
  [[ -e $build/build.ninja ]] && return
  announce "$@"
  install_packages
  echo "Configuring build/$preset" >&2
  if ! (cd "$root" && cmake --preset "$preset" > "$build/configure.log"); then
    tail -n 20 "$build/configure.log" >&2
    fail "the configuration failed. $advice"
  fi
}

# Builds the given targets, or all. Says nothing when nothing has changed.
build_targets() {
  mkdir -p "$build" 2> /dev/null || true
  [[ -w $build ]] || fail "no permission to write to $build: build in your own clone"
  (
    lock "builds in build/$preset"
    configure "$@"
    cd "$build"
    ninja -j "$jobs" "$@" | show_progress "$@" >&2 || fail "the build failed"
  ) 9> "$build/.lock" || exit 2
}

# Waits until no other launcher holds the lock, which is file descriptor 9.
lock() {
  flock --nonblock 9 && return
  echo "Waiting for another ./octant, which $1" >&2
  flock 9
}

# Reduces ninja's lines, one for each step, to a line that counts them on a terminal and ten lines
# in a log, with an estimate of the time left. Passes on messages of the compilers.
show_progress() {
  local line step steps tenth=0 counting='' left='' started previous=0
  local total=0 finished=0 mean=0 listed=0  # weights of steps; objects
  started=$(date +%s)
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ (Building|Linking) ]]; then
      step=${BASH_REMATCH[1]} steps=${BASH_REMATCH[2]}
      ((steps < 20)) || estimate_time_left "$line" "$@"
      if [[ -t 1 ]]; then
        printf '\rCompiling: step %s of %s%s\e[K' "$step" "$steps" "$left"
        counting=yes
      elif ((10 * step / steps > tenth)); then
        tenth=$((10 * step / steps))
        echo "Compiling: step $step of $steps$left"
      fi
    elif [[ ! $line =~ ^(\[|-- |ninja: no work) ]]; then
      [[ ! $counting ]] || echo
      counting=''
      echo "$line"
    fi
  done
  [[ ! $counting ]] || echo
}

# Adds the finished step of a line to `finished` and sets `left`: the weight of all other steps,
# over the weight per second so far. Half of the steps under way counts as finished; and since the
# previous step ended, all other compilers have worked on theirs. The first call lists the objects
# of the given targets that do not exist yet; a build that makes few new ones has no estimate.
estimate_time_left() {
  local now weight object half others seconds
  set_weight "$1"
  ((finished += weight)) || true
  if ((total == 0)); then
    total=$finished listed=1
    while IFS= read -r object; do
      [[ ! -e $object && $1 != *"$object" ]] || continue
      set_weight "$object"
      ((total += weight)) || true
      ((listed += 1))
    done < <(ninja -t commands "${@:2}" | sed -nE 's/.* -o ([^ ]+\.o) .*/\1/p')
    mean=$((total / steps))
  fi
  now=$(($(date +%s) - started))
  half=$((jobs * mean / 2)) others=$(((jobs - 1) * (now - previous)))
  left='' previous=$now
  ((10 * listed > 6 * steps && now >= 15)) || return 0
  ((10 * finished > total && total > finished + half)) || return 0
  seconds=$(((jobs * now - others) * (total - finished - half) / (finished + half)))
  seconds=$(((seconds - others) / jobs))
  left=", less than a minute left"
  ((seconds < 60)) || left=", about $(((seconds + 30) / 60)) min left"
}

# Sets `weight`, seconds that a step takes on one idle core. Estimates depend on ratios alone.
set_weight() {
  case $1 in
    *\ Linking\ *) weight=0 ;;
    */godunov_* | */cold_states.*) weight=85 ;;
    */bench/* | *octant_bench*) weight=40 ;;
    */ppm26.*) weight=28 ;;
    *octant_program.dir/batches/*) weight=25 ;;
    */pencil/fft.*) weight=20 ;;
    *octant_particles.dir/*) weight=18 ;;
    *octant_mesh.dir/* | *octant_gravity.dir/* | *octant_hydro.dir/*) weight=12 ;;
    *octant_decomp.dir/* | *octant_comm.dir/*) weight=4 ;;
    *) weight=8 ;;
  esac
}

build_everything() { build_targets; }

# Another user's clone is run as it is.
build_program() {
  [[ -x $program && ! -w $build ]] || build_targets octant "$@"
}

# --- Running ---

# Sets `launch`, the words that start the program on the requested ranks and threads, and
# its environment.
launch=()
prepare_run() {
  local share=$((cores / ${ranks:-1}))
  export OMP_NUM_THREADS=${threads:-${OMP_NUM_THREADS:-$((share > 0 ? share : 1))}}
  export OMP_PROC_BIND=${OMP_PROC_BIND:-false} PATH=$venv/bin:$PATH
  [[ -n ${OMP_WAIT_POLICY:-} ]] || export GOMP_SPINCOUNT=${GOMP_SPINCOUNT:-10000}
  export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}  # those of Open MPI would hide others
  [[ -t 1 ]] || export NO_COLOR=1  # the program cannot see that: mpirun gives it a terminal
  launch=("$program")
  [[ $ranks ]] || return 0

  [[ $preset != cuda-alone ]] ||
    fail "the preset cuda-alone has no MPI and supports only one rank; use the preset cuda"
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  launch=(mpirun -n "$ranks")
  if mpirun --version | grep -q 'Open MPI'; then
    launch+=(--quiet --oversubscribe --bind-to none)
    # With more threads than cores, those that wait must give way.
    ((ranks * OMP_NUM_THREADS <= cores)) || launch+=(--mca mpi_yield_when_idle 1)
  fi
  launch+=("$program")
}

# Runs the program, and then makes the pictures that its parameter file lists. The exit code is
# the program's.
run_and_draw() {
  local status=0 results
  prepare_run
  done_file=$(mktemp)
  export OCTANT_DONE_FILE=$done_file
  [[ ! $ranks ]] || hold_signals_back
  run_with_signals "${launch[@]}" "$@" || status=$?
  results=$(< "$done_file")
  [[ ! $results ]] || "$root/octant" pictures "$results" ||
    echo "octant: not all plots were made; to try again: ./octant pictures $results" >&2
  return $status
}

# Lets a closed pipe or a file that is too long fail a write, and end neither the launcher nor what
# it starts: from before the build until after the pictures.
done_file=''
outlive_readers() {
  trap '' PIPE XFSZ
  trap 'rm -f "$done_file"; close_relays' EXIT
  open_relays
}

# Reads what is written to a pipe, or to the socket of a connection, also when nobody reads it there
# any more (`| head`, `|& head`): mpirun would end a run that cannot write, and a build would fail.
relays=()
open_relays() {
  if [[ -p /dev/stdout || -S /dev/stdout ]]; then
    local same=''
    [[ ! /dev/stdout -ef /dev/stderr ]] || same=yes
    exec > >(relay)
    relays+=($!)
    [[ ! $same ]] || exec 2>&1
    [[ ! $same ]] || return 0
  fi
  if [[ -p /dev/stderr || -S /dev/stderr ]]; then
    exec 2> >(relay >&2)
    relays+=($!)
  fi
}

relay() {
  trap '' INT HUP TERM USR1
  cat 2> /dev/null || exec cat > /dev/null
}

close_relays() {
  ((${#relays[@]})) || return 0
  exec >&- 2>&-
  wait "${relays[@]}" || true
}

# Runs a command that gets the signals sent to this shell, and gets them once: it has a session of
# its own, where the terminal's do not come.
run_with_signals() {
  local child status interrupted=yes asked_at='' early='' name
  for name in TERM INT HUP USR1; do
    # shellcheck disable=SC2064
    trap "early=$name" "$name"
  done
  (trap - INT; exec setsid "$@") &
  child=$!
  for name in TERM INT HUP USR1; do
    # shellcheck disable=SC2064
    trap "forward $name" "$name"
  done
  trap 'suspend' TSTP
  [[ ! $early ]] || forward "$early"
  while [[ $interrupted ]]; do
    status=0 interrupted=''
    wait "$child" || status=$?
  done
  trap - TERM INT HUP USR1 TSTP
  return $status
}

# Open MPI would kill the ranks a second after a signal to mpirun. Where mpirun never gets it, the
# ranks see that it is waiting there. Signals of writes would be handed on to ranks that have only
# just been started.
hold_signals_back() {
  local hold=(env "--block-signal=INT,TERM,HUP,PIPE,XFSZ")
  ! "${hold[@]}" true 2> /dev/null || launch=("${hold[@]}" "${launch[@]}")
}

# One rank takes a second SIGTERM or SIGINT for an order to end at once. Several ranks get SIGUSR1,
# which mpirun hands on to them, and are killed by a second signal: mpirun then ends.
forward() {
  local signal=$1
  if [[ $ranks ]]; then
    signal=USR1
    if [[ $1 == @(TERM|INT) ]]; then
      asked_at=${asked_at:-$SECONDS}
      ((SECONDS <= asked_at + 1)) || kill_ranks
    fi
  fi
  kill -s "$signal" "$child" 2> /dev/null || true  # it may have ended
  interrupted=yes
}

kill_ranks() {
  local here
  read -ra here < "/proc/$child/task/$child/children" || true  # its line has no end
  kill -s KILL "${here[@]}" || true
}

# Ctrl-Z.
suspend() {
  local signal=STOP
  [[ ! $ranks ]] || signal=TSTP
  kill -s "$signal" "$child" || true
  kill -s STOP $$
  kill -s CONT "$child" || true
  interrupted=yes
}

# --- Testing ---

test_unit() { ctest --test-dir "$build" --output-on-failure --parallel "$cores"; }
test_python() { prepare_readers && run_pytest python; }
test_cli() { prepare_manual && run_pytest tests/cli; }
test_physics() { in_memory run_pytest tests/physics; }
test_cases() { in_memory run_pytest tests/cases; }
test_invariance() { in_memory run_pytest tests/invariance; }
test_faults() { run_pytest tests/faults; }
test_extending() { run_pytest tests/extending; }

# With a Python that has the package octant built in.
test_bindings() {
  prepare_python
  (cd "$root" && cmake --preset "$preset" -DOCTANT_PYTHON=program \
    -DPython_EXECUTABLE="$venv/bin/python" > "$build/configure.log") ||
    { tail -n 20 "$build/configure.log" >&2 && fail "the configuration failed"; }
  build_targets octant-python
  run_pytest tests/bindings
}

# Counts instructions with valgrind, which does not support AVX-512: with the preset portable,
# whatever the others are tested with. Runs are dealt out among the cores.
test_performance() {
  local preset=portable build=$root/build/portable program=$root/build/portable/octant
  command -v valgrind > /dev/null || install_packages valgrind || true
  build_targets octant octant-bench
  run_pytest tests/performance --dist loadgroup
}

# Runs a command whose temporary files are in memory, if there is plenty: a short run spends most of
# its time on waiting for a disk. To be called in a subshell, which removes the files at its end.
in_memory() {
  local free folder
  free=$(df --output=avail /dev/shm 2> /dev/null | tail -n 1)
  ((${free:-0} > 4 << 20)) || { "$@"; return; }
  folder=$(mktemp -d /dev/shm/octant-tests.XXXXXX)
  # shellcheck disable=SC2064  # the value of now: the variable is local
  trap "rm -rf '$folder'" EXIT  # also after an interruption
  TMPDIR=$folder "$@"
}

# Runs the tests of a folder, with further options for pytest. A file's tests stay together: they
# share what they prepare.
run_pytest() {
  local side_by_side=(--numprocesses "$cores" --dist loadfile)
  prepare_python
  (cd "$root/$1" &&
    OCTANT_PROGRAM=$program "$venv/bin/python" -m pytest -q "${side_by_side[@]}" "${@:2}" \
      < /dev/null)
}

existing_parts() {
  local part
  [[ ! -e $root/python ]] || echo -n "python "
  for part in cli physics cases invariance faults extending bindings; do
    [[ ! -e $root/tests/$part ]] || echo -n "$part "
  done
}

# The file that holds what the tests of a part wrote.
test_log() {
  [[ $1 == unit ]] && echo "$build/Testing/Temporary/LastTest.log" || echo "$build/tests-$1.log"
}

# Lists why tests of the given parts were skipped: the number of tests and the reason, a line each.
list_skipped_tests() {
  local part logs=()
  for part in "$@"; do logs+=("$(test_log "$part")"); done
  awk -f "$root/cmake/skipped_tests.awk" "${logs[@]}" | sort -k 1,1nr -k 2
}

# Prints which lines of each module the tests executed. Only a build with the preset `coverage`
# counts them.
report_coverage() {
  install_once coverage || fail "cannot install gcovr, which reports the coverage"
  "$venv/bin/python" "$root/tests/line_coverage.py" "$build"
}

run_tests() {
  local part status=0 seconds summary=() skipped
  local parts=("$@")
  (($#)) || read -ra parts <<< "unit $(existing_parts)"
  for part in "${parts[@]}"; do
    [[ $(type -t "test_$part") ]] || fail "there is no test suite $part"
  done
  [[ ${parts[*]} == performance ]] || build_everything  # which counts with another preset
  # Reference solutions and real inputs; tests that need them skip themselves elsewhere.
  [[ ! -d $root/../shared/data ]] || export OCTANT_DATA=${OCTANT_DATA:-$root/../shared/data}
  [[ ! -d $root/../shared/cases ]] || export OCTANT_CASES=${OCTANT_CASES:-$root/../shared/cases}
  # All ranks of a test run on this machine: Open MPI need not search for networks, which takes
  # 0.2 s at every start.
  export OMPI_MCA_pml=${OMPI_MCA_pml:-ob1}
  mkdir -p "$build"
  [[ $preset != coverage ]] || find "$build" -name '*.gcda' -delete
  for part in "${parts[@]}"; do
    echo "--- $part" >&2
    seconds=$SECONDS
    if (set -e; "test_$part" |& tee "$build/tests-$part.log"); then
      summary+=("$part: passed in $((SECONDS - seconds)) s")
    else
      summary+=("$part: FAILED after $((SECONDS - seconds)) s")
      status=1
    fi
  done
  [[ $preset != coverage ]] || report_coverage || status=1
  skipped=$(list_skipped_tests "${parts[@]}")
  [[ ! $skipped ]] || printf '%s\n' '--- skipped tests, and why' "$skipped"
  printf '%s\n' '--- summary' "${summary[@]}"
  return $status
}
