# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Pocketfft(Package):
    """Fast Fourier transforms: the header of the branch for C++."""

    homepage = "https://gitlab.mpcdf.mpg.de/mtr/pocketfft"
    git = "https://github.com/mreineck/pocketfft.git"

    license("BSD-3-Clause")

    version("2023.02.14", commit="076cb3d2536b7c5d0629093ad886e10ac05f3623")

    def install(self, spec, prefix):
        mkdirp(prefix.include)
        install("pocketfft_hdronly.h", prefix.include)
