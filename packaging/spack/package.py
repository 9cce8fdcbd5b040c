"""Octant as a Spack package: copy this folder to a repository's packages/octant-simulation."""

from spack.package import *


class OctantSimulation(CMakePackage):
    """Gas on meshes that refine themselves, and incompressible wall turbulence."""

    git = "https://example.org/octant.git"  # where your clone comes from
    license("BSD-3-Clause")
    version("main", branch="main")
    resource(
        name="ducc",
        url="https://files.pythonhosted.org/packages/source/d/ducc0/ducc0-0.42.0.tar.gz",
        sha256="4e11c59b53a43355b053aebb2a62ee16eebeed026575f7d216cf09d437ce52ef",
        placement="ducc",
    )

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.11:", type="build")
    depends_on("py-pip", type="build")
    depends_on("cli11")
    depends_on("fmt@9:")
    depends_on("hdf5 +mpi")
    depends_on("kokkos@4.5: +serial +openmp cxxstd=20")
    depends_on("mpi")
    depends_on("muparser")
    depends_on("spdlog")
    depends_on("tomlplusplus")
    depends_on("zlib")

    generator("ninja")

    def setup_build_environment(self, env):
        env.set("OCTANT_DUCC", join_path(self.stage.source_path, "ducc"))

    def cmake_args(self):
        return [self.define("OCTANT_TESTS", False)]
