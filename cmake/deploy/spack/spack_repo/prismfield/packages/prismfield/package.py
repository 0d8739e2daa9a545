# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Prismfield(CMakePackage, CudaPackage):
    """Gravity and magnetic fields of large ensembles of rectangular prisms, and inversions, on CPU and GPU nodes.

    The sources are those of the clone that this recipe lies in: the environments beside it install from there.
    """

    license("Apache-2.0")

    version("0.1.0")

    variant("openmp", default=True, description="Threads on the host")
    variant("tests", default=False, description="Build the tests and benchmarks")
    variant("geotiff", default=False, description="Terrain from GeoTIFF, by GDAL")
    variant("figures", default=False, description="Python with what draws the figures")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")

    depends_on("mpi")
    depends_on("hdf5@1.10: +hl")
    depends_on("yaml-cpp@0.7:")
    depends_on("fmt@9:")
    depends_on("cli11@2.1:", type="build")
    depends_on("xxhash@0.8:", type="build")
    depends_on("nlohmann-json@3.9:", type="build")
    # Spack has none: its recipe lies beside this one.
    depends_on("pocketfft", type="build")
    depends_on("proj@7.2:")
    depends_on("gdal@3:", when="+geotiff")
    depends_on("googletest@1.12: +gmock", type="build", when="+tests")
    depends_on("benchmark@1.7:", type="build", when="+tests")
    for module in ("py-xarray", "py-netcdf4", "py-matplotlib", "py-h5py", "py-jinja2", "py-pyyaml"):
        depends_on(module, type="run", when="+figures")

    # Kokkos Kernels asks for the Kokkos of its own version.
    depends_on("kokkos@4.7 +serial +pic cxxstd=20")
    depends_on("kokkos-kernels@4.7 +serial")
    depends_on("kokkos +openmp", when="+openmp")
    depends_on("kokkos-kernels +openmp", when="+openmp")
    # The View of 4.7.00 is laid out differently on host and device by nvcc 12.9 and newer; 4.7.01 uses the old one.
    depends_on("kokkos@4.7.01: +cuda +wrapper", when="+cuda")
    depends_on("kokkos-kernels +cuda", when="+cuda")
    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
        depends_on(f"kokkos-kernels cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
    conflicts("cuda_arch=none", when="+cuda", msg="+cuda needs one cuda_arch, e.g. cuda_arch=90")

    def cmake_args(self):
        # The compiler stays the host's with CUDA too: Kokkos' launcher sends the kernels, and only them, to nvcc.
        device = "CUDA" if self.spec.satisfies("+cuda") else "OPENMP" if self.spec.satisfies("+openmp") else "SERIAL"
        return [
            self.define("PRISMFIELD_REQUIRE_DEVICE", device),
            self.define_from_variant("PRISMFIELD_ENABLE_GDAL", "geotiff"),
            self.define_from_variant("PRISMFIELD_BUILD_TESTS", "tests"),
            self.define_from_variant("PRISMFIELD_BUILD_PERF", "tests"),
        ]
