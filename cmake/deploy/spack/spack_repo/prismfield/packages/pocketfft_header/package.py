# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class PocketfftHeader(Package):
    """The header of pocketfft's C++ branch: fast Fourier transforms. Out of numpy's sources, which hold it."""

    homepage = "https://github.com/mreineck/pocketfft"
    url = "https://github.com/numpy/numpy/releases/download/v2.4.6/numpy-2.4.6.tar.gz"

    license("BSD-3-Clause")

    version("2.4.6", sha256="f3a3570c4a2a16746ac2c31a7c7c7b0c186b95ce902e33db6f28094ed7387dda")

    def install(self, spec, prefix):
        mkdirp(prefix.include)
        install("numpy/fft/pocketfft/pocketfft_hdronly.h", prefix.include)
