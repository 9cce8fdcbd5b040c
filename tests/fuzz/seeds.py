"""Write the seeds of the fuzz targets: FOLDER/TARGET/NAME.

python3 tests/fuzz/seeds.py FOLDER

The seeds are small and valid, so that mutations of them reach the last checks of each reader. Those
named refused_* are inputs that found faults, or would have; the readers must refuse them. The files
in parquet/ were written by telemetry::write_parquet().
"""

import shutil
import sys
from pathlib import Path

CORPUS = Path()
TARGETS = {"parameters", "expressions", "control", "grafic", "ramses", "curamses", "checkpoint",
           "hdf5", "initial", "hdf5_tables", "text_tables", "parquet"}  # fmt: skip
INFO = {"ncpu": 1, "ndim": 3, "levelmin": 1, "levelmax": 2, "nstep_coarse": 4, "boxlen": 1.0,
        "time": 0.5, "aexp": 1.0, "H0": 1.0, "omega_m": 1.0, "omega_l": 0.0, "omega_k": 0.0,
        "omega_b": 0.045, "unit_l": 1.0, "unit_d": 1.0, "unit_t": 1.0}  # fmt: skip
GAS = ("density", "velocity_x", "velocity_y", "velocity_z", "pressure")
COLUMNS = [f"{name}_{axis}" for name in ("position", "velocity") for axis in "xyz"]
COLUMNS += ["mass", "identity", "levelp", "family", "tag", "birth_time"]


def write(target: str, name: str, text: str) -> None:
    """Write a seed."""
    path = CORPUS / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def tree(ncpu: int) -> str:
    """Return the records of a tree of one oct per level; the octs belong to domain 1."""
    lists = " ".join(["1"] + ["0"] * (ncpu - 1))
    lines = [f"i {ncpu}", "i 3", "i 1 1 1", "i 2", "i 9", "i 0", "i 2", "d 1", "i 1 1 1", "d 1",
             "d 1", "d 0.5", "d 0.1 0.1", "d 0.1 0.05", *["i 0"] * 5, "i 0", "i 0",
             f"i {lists} {lists}", "i 0", "i 0", "t hilbert", "d 0 1", "i 1", "i 0",
             "i 1"]  # fmt: skip
    for centre, son in ((0.5, 2), (0.25, 0)):
        lines += ["i 1", "i 0", "i 0", *[f"d {centre}"] * 3, "i 0", *["i 0"] * 6]
        lines += [f"i {son}", *["i 0"] * 7, *["i 1"] * 8, *["i 0"] * 8]
    return "\n".join(lines) + "\n"


def values(ncpu: int, head: list[str], cell: list[str]) -> str:
    """Return the records of cell values: a header, and the same variables in all cells."""
    lines = list(head)
    for level in (1, 2):
        for domain in range(ncpu):
            lines += [f"i {level}", f"i {int(domain == 0)}", *(cell * 8 if domain == 0 else [])]
    return "\n".join(lines) + "\n"


def particles(ncpu: int, columns: list[str]) -> str:
    """Return the records of two particles."""
    numbers = {"identity": "i 1 2", "levelp": "i 1 2", "family": "c 1 2", "tag": "c 0 0",
               "ptypep": "c 0 1", "birth_time": "d 0 0.1"}  # fmt: skip
    lines = [f"i {ncpu}", "i 3", "i 2", "i 1 2 3 4", "i 1", "d 0", "d 0", "i 0"]
    return "\n".join(lines + [numbers.get(name, "d 0.25 0.75") for name in columns]) + "\n"


def info(ncpu: int) -> str:
    """Return info_00001.txt."""
    return "".join(f"{key:12}= {value}\n" for key, value in (INFO | {"ncpu": ncpu}).items())


def ramses() -> None:
    """Write binary outputs of RAMSES: of one and of two domains, and in the format of cuRAMSES."""
    for name, ncpu, folder in (("one", 1, ""), ("two", 2, ""), ("old", 1, ""), ("group", 1, "g")):
        at = "output_00001/" + ("group_00001/" if folder else "")
        text = f"%text {at}info_00001.txt\n{info(ncpu)}"
        columns = COLUMNS
        if name == "old":
            columns = [*COLUMNS[:6], "mass", "identity", "levelp", "ptypep", "birth_time"]
            totals = "".join(
                f"Total number of {kind}particles\n {n}\n"
                for kind, n in (("", 2), ("dark matter ", 1), ("star ", 1))
            )
            text += f"%text {at}header_00001.txt\n{totals} Particle fields\npos vel mass iord"
            text += " level tform metal\n"
            text += f"%text {at}hydro_file_descriptor.txt\nnvar = 5\n"
            text += "".join(f"variable # {n + 1}: {gas}\n" for n, gas in enumerate(GAS))
            text += f"%text {at}sink_00001.csv\n1,0.5,0.25,0.25,0.25,0,0,0,0.1,0.0\n"
            text += f"%records {at}sink_00001.out\ni 1\ni 1\ni 1\nd 0.5\n" + "d 0.25\n" * 3
            text += "d 0\n" * 4
        else:
            text += f"%text {at}header_00001.txt\n# Family Count\n DM 1\n star 1\n"
            text += f"%text {at}hydro_file_descriptor.txt\n# version:  1\n"
            text += "".join(f"{n + 1}, {gas}, d\n" for n, gas in enumerate(GAS))
            text += f"%text {at}part_file_descriptor.txt\n"
            text += "".join(f"{n + 1}, {column}, d\n" for n, column in enumerate(columns))
            text += f"%text {at}sink_00001.csv\n # id,msink,x,y,z,vx,vy,vz,tform\n"
            text += "1,0.5,0.25,0.25,0.25,0,0,0,0.1\n"
        gas = ["d 1", "d 0", "d 0", "d 0", "d 0.6"]
        for domain in range(1, ncpu + 1):
            end = f"_00001.out{domain:05d}\n"
            text += f"%records {at}amr{end}{tree(ncpu)}"
            head = [f"i {ncpu}", "i 5", "i 3", "i 2", "i 0", "d 1.4"]
            text += f"%records {at}hydro{end}{values(ncpu, head, gas)}"
            if name != "old":
                head = [f"i {ncpu}", "i 4", "i 2", "i 0"]
                text += f"%records {at}grav{end}{values(ncpu, head, ['d 0.1'] * 4)}"
            text += f"%records {at}part{end}{particles(ncpu, columns)}"
        write("ramses", name, text)


def curamses() -> None:
    """Write an HDF5 output of cuRAMSES."""
    lines = ["%text output_00001/info_00001.txt", info(1).rstrip()]
    lines += ["%text output_00001/hydro_file_descriptor.txt", "# version:  1"]
    lines += [f"{n + 1}, {gas}, d" for n, gas in enumerate(GAS)]
    lines += ["%hdf5 output_00001/data_00001.h5", "group /header"]
    for name, value in (("ncpu", 1), ("ndim", 3), ("levelmin", 1), ("nstep_coarse", 4),
                        ("nlevelmax", 2), ("nvar", 5), ("nx", 1), ("ny", 1),
                        ("nz", 1)):  # fmt: skip
        lines.append(f"attr /header {name} i[1] {value}")
    for name in ("boxlen", "time", "aexp", "H0", "omega_m", "omega_l", "omega_k", "omega_b"):
        lines.append(f"attr /header {name.lower()} d[1] {INFO[name]}")
    lines += ["attr /header gamma d[1] 1.4", "attr /header dtnew d[2] 0.1 0.05"]
    for level, centre, son in ((1, 0.5, 1), (2, 0.25, 0)):
        lines.append(f"data /amr/level_{level}/ngrid_per_cpu i[1] 1")
        lines += [f"data /amr/level_{level}/xg_{axis} d[1] {centre}" for axis in (1, 2, 3)]
        lines.append(f"data /amr/level_{level}/son_flag i[8] {son} 0 0 0 0 0 0 0")
        lines += [f"data /hydro/level_{level}/uold_{n} d[8] 1" for n in range(1, 6)]
        lines += [f"data /gravity/level_{level}/f_{n} d[8] 0.1" for n in (1, 2, 3)]
    lines += ["data /particles/npart_per_cpu i[1] 2", "attr /particles npart_total i[1] 2"]
    lines += [f"data /particles/{kind}_{axis} d[2] 0.3" for kind in "xv" for axis in (1, 2, 3)]
    lines += ["data /particles/mass d[2] 1", "data /particles/identity q[2] 1 2"]
    lines += ["data /particles/levelp i[2] 1", "data /particles/ptypep i[2] 0 1"]
    lines += ["data /particles/birth_epoch d[2] 0 0.1", "data /particles/metallicity d[2] 0.02"]
    lines += ["data /sinks/msink d[1] 1", "data /sinks/idsink i[1] 1", "data /sinks/tsink d[1] 0"]
    lines += [f"data /sinks/{kind}sink_{axis} d[1] 0.3" for kind in "xv" for axis in (1, 2, 3)]
    write("curamses", "output", "\n".join(lines) + "\n")


def grafic() -> None:
    """Write a folder of two levels."""
    text = ""
    for level, cells, spacing, offset in ((2, 4, 1.0, 0.0), (3, 4, 0.5, 1.0)):
        for field in ("ic_deltab", "ic_velcx", "ic_velcy", "ic_velcz", "ic_refmap"):
            text += f"%records level_{level:03d}/{field}\n"
            text += f"i {cells} {cells} {cells} f {spacing} {offset} {offset} {offset}"
            text += " 0.02 0.3 0.7 70\n" + "f 0.1 0.2 0.3 0.4 n 13\n" * cells
    write("grafic", "two_levels", text)


def checkpoint() -> None:
    """Write a checkpoint of a mesh of two blocks per axis, one octant of which is refined."""
    lines = ["%hdf5 file.h5", "group /header", "attr /header kind s checkpoint"]
    for name, value in (("format_version", 1), ("step", 4), ("next_snapshot", 1),
                        ("next_checkpoint", 2), ("next_cutout", 1),
                        ("finest_level", 1)):  # fmt: skip
        lines.append(f"attr /header {name} q {value}")
    reals = ("time", "last_snapshot_time", "last_cutout_time", "unit_length", "unit_mass")
    lines += [f"attr /header {name} d 0.5" for name in reals]
    lines += [f"attr /header {name} s text" for name in ("model", "problem", "version")]
    lines.append("attr /header git_revision t 0123456")
    lines.append("attr /header data_files s problem.path = '1'")
    lines.append("attr /header parameters s [mesh]\\nmax_level = 3\\n[hydro]\\ngamma = 1.4\\n")
    origins = " ".join(f"{(n & 1) / 2} {(n >> 1 & 1) / 2} {(n >> 2) / 2}" for n in range(8))
    for level, count, keys, refined, at in (
        (0, 8, "0 1 2 3 4 5 6 7", "1 0 0 0 0 0 0 0", origins),
        (1, 1, "0", "0", "0 0 0"),
    ):
        group = f"/mesh/level_{level}"
        lines += [f"data {group}/key u[{count}] {keys}", f"data {group}/owner i[{count}] 0"]
        lines += [f"data {group}/refined c[{count}] {refined}"]
        lines += [f"data {group}/origin d[{count},3] {at}"]
        lines += [f"data /gas/level_{level}/density d[{count},2,2,2] 1"]
    lines += ["data /particles/dark/id u[2] 1 2", "data /particles/dark/position d[2,3] 0.5"]
    lines += ["attr /particles/dark used_ids q 2", "attr /particles/dark outflow d[4] 0"]
    write("checkpoint", "two_levels", "\n".join(lines) + "\n")
    few = [
        "%hdf5 file.h5",
        "attr / Octant t text",
        "attr / bounds d[2] 0 1",
        "data /a/x d[4,2] 1 2",
    ]
    few += ["attr /a/x units s cm", "data /a/n i[3] 7", "link /b /a/x", "data /large d[999999,9]"]
    write("hdf5", "small", "\n".join([*few, "patch 3000 0"]) + "\n")
    write("hdf5", "refused_checksums", "\n".join([*few, "sum 2048 4 16 /a/x"]) + "\n")


def initial() -> None:
    """Write initial conditions on two grids, with particles."""
    lines = ["%hdf5 file.h5", "group /header", "attr /header kind s initial"]
    lines += ["attr /header lower d[3] 0", "attr /header upper d[3] 1"]
    for level, cells, lower, upper in ((0, 4, 0, 1), (1, 2, 0.25, 0.5)):
        group = f"/gas/level_{level}"
        for name in (*GAS, "scalar_0"):
            lines.append(f"data {group}/{name} d[{cells},{cells},{cells}] 0.5 0.25")
        lines += [f"attr {group} lower d[3] {lower}", f"attr {group} upper d[3] {upper}"]
    for kind in ("dark", "stars"):
        lines += [f"data /particles/{kind}/{name} d[2,3] 0.5" for name in ("position", "velocity")]
        lines += [f"data /particles/{kind}/mass d[2] 1"]
    lines += ["data /particles/stars/birth_time d[2] 0", "data /particles/stars/metallicity d[2] 0"]
    write("initial", "two_grids", "\n".join(lines) + "\n")


def tables() -> None:
    """Write tables of the formats that are text and HDF5."""
    opacity = "".join(f"1e-{9 - n} {t} 0.4 0.3\n" for n in range(2) for t in (10, 100))
    write("text_tables", "opacity", "# density, temperature, means\n" + opacity)
    write(
        "text_tables", "stars", "".join(f"{z} {t} 1e47,2e46\n" for z in (0, 0.02) for t in (0, 5))
    )
    write("text_tables", "function", "0 1\n0.5, 2\n1 -1e3 # end\n")
    axis = [10.0 ** (n / 2) for n in range(8)]
    lines = ["%hdf5 file.h5", "attr / format s octant equation of state", "attr / version q 1"]
    for name, of in (("density", axis), ("temperature", axis)):
        lines.append(f"data /{name} d[8] " + " ".join(f"{value!r}" for value in of))
    fields = {"pressure": lambda r, t: r * t, "energy": lambda r, t: 1.5 * t,
              "sound_speed": lambda r, t: (5 / 3 * t) ** 0.5}  # fmt: skip
    for name, field in fields.items():
        numbers = " ".join(f"{field(r, t):.10g}" for r in axis for t in axis)
        lines.append(f"data /{name} d[8,8] {numbers}")
    write("hdf5_tables", "gas", "\n".join(lines) + "\n")
    lines = ["%hdf5 file.h5"]
    for part in ("Primordial", "Metals"):
        for rate in ("Cooling", "Heating", "MMW")[: 3 if part == "Primordial" else 2]:
            lines.append(f"data /CoolingRates/{part}/{rate} d[2,2,3] 1e-23 2e-23 3e-23")
    group = "/CoolingRates/Primordial/Cooling"
    lines += [f"attr {group} Rank q 3", f"attr {group} Parameter1 d[2] -4 4"]
    lines += [f"attr {group} Parameter2 d[2] 0 2", f"attr {group} Temperature d[3] 10 1e4 1e8"]
    background = ["data /UVBRates/z d[2] 0 2"]
    background += [f"data /UVBRates/Chemistry/{k} d[2] 1e-13 1e-12" for k in ("k24", "k25", "k26")]
    heats = ("piHI", "piHeI", "piHeII")
    background += [f"data /UVBRates/Photoheating/{heat} d[2] 1e-13" for heat in heats]
    write("hdf5_tables", "cooling", "\n".join(lines + background) + "\n")
    without = [line for line in lines if "MMW" not in line and "Metals" not in line]
    write("hdf5_tables", "equilibrium", "\n".join(without + background) + "\n")
    lines = ["%hdf5 file.h5", "data /age d[3] 1 10 100", "data /metallicity d[2] 0 0.02"]
    for name in ("ejected_mass", "ejected_metals", "supernovae"):
        lines.append(f"data /{name} d[2,3] 0 0.1 0.2")
    write("hdf5_tables", "yields", "\n".join(lines) + "\n")


def texts() -> None:
    """Write parameter files, expressions and control files."""
    write("parameters", "all", """name = "sod"
[units]
length = "2 pc"
[gas]
enabled = true
count = 7
steps = "2^10"  # an expression
radius = "10 kpc"
density = "3 m_p / cm^3"
[mesh]
cells = [8, 8, 8]
centre = ["1 kpc", 0, 0.5]
[output]
times = ["1 Myr", 2.5]
fields = ["density"]
[problem]
constants = { r0 = "10 kpc", k = 3 }
tables = ["profile = table.txt"]
shape = "cube"
shapes = ["cube"]
--set gas.count=0x4
--set name=sedov
--set mesh.cells=[4,4,4]
""")  # fmt: skip
    write("expressions", "all", """c k = 2*pi
m wave = sin(k*x) + t
m twice = 2*wave
1 + 9*(r < 0.15)
x > 0 && y <= 1 ? wave^2 : -exp(-(z/3)^2)
min(twice, max(x, 0.5), sqrt(abs(y))) * 1e-3
((x + y) * (x - y)) / (z + 1)
""")  # fmt: skip
    write("control", "all", 'stop = true\ndump = true\nsnapshot_interval = 0.5\n'
          'checkpoint_interval = "1 h"\n')  # fmt: skip


def changed(target: str, valid: str, name: str, *changes: tuple[str, str]) -> None:
    """Write a valid seed with some texts replaced."""
    text = (CORPUS / target / valid).read_text()
    for old, new in changes:
        if old not in text:
            raise ValueError(f"{target}/{valid} does not contain {old!r}")
        text = text.replace(old, new, 1)
    write(target, name, text)


def refused(target: str, valid: str, name: str, *changes: tuple[str, str]) -> None:
    """Write a valid seed with some texts replaced, which readers must refuse."""
    changed(target, valid, f"refused_{name}", *changes)


def faults() -> None:
    """Write inputs that found faults of the readers; see docs/developer/quality.md."""
    refused("ramses", "one", "number_of_domains", ("ncpu        = 1", "ncpu = 4294967297"))
    changed("ramses", "one", "long_line_of_header", ("# Family", "%long 200000 x\n# Family"))
    refused("ramses", "one", "long_line_of_columns", ("# version", "%long 200000 #\n# version"))
    refused("ramses", "one", "component", ("position_x", "position_q"))
    refused("ramses", "one", "column_twice", ("3, velocity_y", "3, velocity_x"))
    cut_off = [(f"# {n + 1}: {GAS[n]}", f"# {n + 1}: passive_scalar_*") for n in (3, 4)]
    changed("ramses", "old", "scalars_of_one_name", *cut_off)
    identities = ("i 1 2\ni 1 2\nc", "i 1 2\nc")  # and levels
    refused("ramses", "old", "no_identity", ("mass iord", "mass"), identities)
    refused("ramses", "old", "field_twice", ("pos vel", "pos pos"))
    refused("ramses", "one", "sink", ("1,0.5,0.25", "1e300,0.5,0.25"))
    for name, octs in (("octs", 10**12), ("octs_overflow", 2**62)):
        of_tree, of_gas = ("i 1 1\n", f"q 1 {octs}\n"), ("i 2\ni 1\nd", f"i 2\nq {octs}\nd")
        refused("ramses", "one", name, of_tree, of_gas)
    shape = ("xsink_1 d[1]", "xsink_1 d[1,99]")
    refused("curamses", "output", "shape_of_sinks", shape)
    refused("curamses", "output", "shape_of_births", ("birth_epoch d[2]", "birth_epoch d[2,9]"))
    refused("curamses", "output", "levels", ("nlevelmax i[1] 2", "nlevelmax q[1] 900000000"))
    refused("curamses", "output", "variables", ("nvar i[1] 5", "nvar i[1] 100000"),
            ("nvar i[1] 100000", "nvar i[1] 1000000"))  # fmt: skip
    refused("grafic", "two_levels", "offset", ("f 1.0 0.0", "f 1.0 nan"))
    refused("grafic", "two_levels", "level", ("level_003/ic_deltab", "level_3/ic_deltab"))
    refused("grafic", "two_levels", "large_planes", ("i 4 4 4", "i 2147483647 2147483647 4"))
    large = "data /large d[999999999999,9999]"
    refused("hdf5_tables", "gas", "large", ("data /density d[8]", "data /density d[999999999999]"))
    refused("checkpoint", "two_levels", "large", ("refined c[8]", "refined c[999999999999]"))
    refused("initial", "two_grids", "large", ("density d[4,4,4]", "density d[9999999,9999,9999]"))
    refused("initial", "two_grids", "cells", ("upper d[3] 1\ndata", "upper d[3] 1e-300\ndata"))
    write("hdf5", "large", f"%hdf5 file.h5\n{large}\n")
    times = ("Temperature d[3] 10 1e4 1e8", "Temperature d[3] 10 1e8 1e8")
    refused("hdf5_tables", "cooling", "temperatures", times, ("/UVBRates/z", "/z"))
    equal = ("Parameter1 d[2] -4 4", "Parameter1 d[2] 4 4")
    refused("hdf5_tables", "cooling", "densities", equal, ("/UVBRates/z", "/z"))
    short = ("k24 d[2]", "k24 d[1]")
    refused("hdf5_tables", "equilibrium", "background", short)
    write("expressions", "refused_null", "3 \0(\n")


def write_all(folder: Path) -> None:
    """Write all seeds, and remove older ones; exits if the folder contains anything else."""
    global CORPUS
    CORPUS = folder
    if folder.exists() and not {path.name for path in folder.iterdir()} <= TARGETS:
        sys.exit(f"{folder} contains other files than seeds; choose another folder")
    shutil.rmtree(folder, ignore_errors=True)
    for make in (ramses, curamses, grafic, checkpoint, initial, tables, texts, faults):
        make()
    shutil.copytree(Path(__file__).parent / "parquet", folder / "parquet")


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
