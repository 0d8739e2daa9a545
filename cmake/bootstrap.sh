#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The prismfield authors
set -euo pipefail

usage() {
  cat <<'END'
Installs what is missing, builds prismfield, and runs it or its tests.

  bash cmake/bootstrap.sh run CASE.yaml [options] [options of `prismfield run`]
  bash cmake/bootstrap.sh test          [options] [-- options of ctest]
  bash cmake/bootstrap.sh build         [options] [-- options of cmake]
  bash cmake/bootstrap.sh library       [options] [-- options of cmake]
  bash cmake/bootstrap.sh capi          [options] [-- options of cmake]

run      forward model: the result and the picture that the case asks for
test     the fast tests; with --all every test
build    leaves build/<backend>/bin/prismfield
library  only prismfield::core, for other programs: without HDF5, yaml-cpp and CLI11, and with
         -- -DPRISMFIELD_ENABLE_MPI=OFF without MPI; leaves build/<backend>-library
capi     only the shared library of include/prismfield/prismfield.h, for Python, C, Fortran or Julia, without MPI;
         leaves build/<backend>-capi-<cpu>/src/libprismfield.so

Options:
  --all             test: also the slow tests, the outside programs and every header by itself
  --backend NAME    serial, openmp (default), cuda or hip
  --gpu-arch NAME   Kokkos' name of the GPU, e.g. HOPPER90 or AMD_GFX90A (default: the card found, else these)
  --cpu NAME        for other processors than this one: avx512, avx2 (x86-64-v3) or scalar (any)
  --portable        the same as --cpu avx2
  --prefix DIR      also install into DIR; dependencies are looked for there too
  --jobs N          compile N files at a time (default: one per core, as far as memory goes)
  --no-packages     install no Debian packages: everything comes from modules, Spack or a prefix
  --help            this text

Packages come from Debian 12 or Ubuntu 24.04 when this runs as root; without root it prints the line that installs them.
Kokkos and Kokkos Kernels are those that CMake finds, by CMAKE_PREFIX_PATH, Kokkos_ROOT or a loaded module. Else they are
built once into build/dependencies, from a pinned source archive on PyPI, and the header of pocketfft is taken out of another;
without a network, put these archives (pygenten-0.1.5.tar.gz, numpy-2.4.6.tar.gz) into build/dependencies yourself. Logs
are in build/<backend>/logs. It can be run again at any time and does only what is left to do.
END
}

fail() {
  printf 'bootstrap: %s\n' "$1" >&2
  exit "${2:-1}"
}

# How far a build is, as ninja ([23/57]) or make ([ 40%]) say it in the log: on a terminal in place, in a file a line a
# quarter. It ends by itself when this script does.
show_progress() {
  local log=$1 text=$2 start=$SECONDS shown=1 at done all
  while kill -0 $$ 2>/dev/null; do
    sleep 0.5
    at=$(tail -c 4000 "$log" 2>/dev/null | grep -aoE '^\[ *[0-9]+(/[0-9]+|%)\]' | tail -n 1) || at=
    [ -n "$at" ] || continue
    if [ -t 2 ]; then
      printf '\r%s ... %s' "$text" "$at" >&2
      continue
    fi
    read -r done all <<<"$(tr -c '0-9\n' ' ' <<<"$at")"
    [ $((4 * done)) -ge $((shown * ${all:-100})) ] || continue
    shown=$((4 * done / ${all:-100} + 1))
    # The last one is the step's own time, and quick steps need no line.
    if [ $shown -gt 4 ] || [ $((SECONDS - start)) -lt 20 ]; then continue; fi
    printf '\n    %s after %d s ... ' "$at" $((SECONDS - start)) >&2
  done
}

# What the next step may need when it fails; told with the end of its log.
remedy=

# step LOG TEXT COMMAND...: one line for the user, everything else into a log.
step() {
  local log="$logs/$1.log" text=$2 start=$SECONDS status progress
  shift 2
  printf '%s ... ' "$text" >&2
  : >"$log"
  # without the lock of below
  show_progress "$log" "$text" 9>&- &
  progress=$!
  # A subshell that is not part of a condition, so that `set -e` holds inside the command.
  set +e
  (
    set -e
    "$@"
  ) >"$log" 2>&1 </dev/null
  status=$?
  kill $progress 2>/dev/null
  wait $progress 2>/dev/null
  set -e
  [ ! -t 2 ] || printf '\r\033[K%s ... ' "$text" >&2
  if [ $status -ne 0 ]; then
    printf 'failed\n' >&2
    if [ -n "$remedy" ]; then
      tail -n 8 "$log" | sed 's/^/    /' >&2
      fail "$remedy
The whole log is $log"
    fi
    tail -n 30 "$log" | sed 's/^/    /' >&2
    fail "this step failed; the whole log is $log"
  fi
  remedy=
  printf '%d s\n' $((SECONDS - start)) >&2
}

# ---- the command line

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
command=
backend=openmp
gpu_arch=
cpu=native
prefix=
jobs=
packages=yes
all=no
case_file=
passed_on=()

value_of() {
  [ $# -ge 2 ] || fail "$1: a value is missing" 2
  printf '%s' "$2"
}

while [ $# -gt 0 ]; do
  case $1 in
    --backend=* | --cpu=* | --gpu-arch=* | --prefix=* | --jobs=*)
      set -- "${1%%=*}" "${1#*=}" "${@:2}"
      continue
      ;;
    --backend) backend=$(value_of "$@"); shift 2 ;;
    --gpu-arch) gpu_arch=$(value_of "$@"); shift 2 ;;
    --prefix) prefix=$(value_of "$@"); shift 2 ;;
    --jobs | -j) jobs=$(value_of "$@"); shift 2 ;;
    --cpu) cpu=$(value_of "$@"); shift 2 ;;
    --portable) cpu=avx2; shift ;;
    --all) all=yes; shift ;;
    --no-packages) packages=no; shift ;;
    --help | -h) usage; exit 0 ;;
    --)
      shift
      passed_on+=("$@")
      break
      ;;
    *)
      if [ -z "$command" ]; then
        command=$1
      elif [ "$command" = run ] && [ -z "$case_file" ]; then
        case_file=$1
      elif [ "$command" = run ]; then
        passed_on+=("$1")
      else
        fail "$1: no such option, or it belongs behind --; --help lists them" 2
      fi
      shift
      ;;
  esac
done

case $command in
  run)
    [ -n "$case_file" ] || fail "run: which case? For example inputs/seven_spheres.yaml" 2
    # Before minutes of building, not after.
    [ -r "$case_file" ] || fail "$case_file: no such file, or it cannot be read" 2
    ;;
  build | capi | library | test) ;;
  "") usage; exit 2 ;;
  *) fail "$command: no such command; run, test, build, library or capi" 2 ;;
esac
[ $all = no ] || [ "$command" = test ] || fail "--all belongs to test" 2
case $cpu in
  native) kokkos_cpu=-DKokkos_ARCH_NATIVE=ON ;;
  avx512) kokkos_cpu=-DKokkos_ARCH_SKX=ON ;;
  avx2) kokkos_cpu=-DKokkos_ARCH_HSW=ON ;;
  scalar) kokkos_cpu= ;;
  *) fail "--cpu: $cpu is not native, avx512, avx2 or scalar" 2 ;;
esac
# These names are those of x86.
[ "$cpu" = native ] || [ "$(uname -m)" = x86_64 ] || kokkos_cpu=
case $backend in
  serial) device=SERIAL ;;
  openmp) device=OPENMP ;;
  cuda) device=CUDA ;;
  hip) device=HIP ;;
  *) fail "--backend: $backend is not serial, openmp, cuda or hip" 2 ;;
esac
if [ -z "$jobs" ]; then
  jobs=$(nproc)
  # Two gigabytes for each compiler.
  by_memory=$(awk '/^MemAvailable/ {print int($2 / 2097152)}' /proc/meminfo)
  [ "${by_memory:-0}" -lt "$jobs" ] && jobs=$by_memory
  [ "$jobs" -ge 1 ] || jobs=1
fi
[[ $jobs =~ ^[1-9][0-9]*$ ]] || fail "--jobs: $jobs is not a number above 0" 2
# A name mistyped here would lead to a Kokkos built anew without a word.
kokkos_hints=${CMAKE_PREFIX_PATH:-}${Kokkos_ROOT:+:$Kokkos_ROOT}
IFS=':;' read -r -a named <<<"$kokkos_hints"
for folder in ${named[@]+"${named[@]}"}; do
  [ -z "$folder" ] || [ -d "$folder" ] ||
    printf 'bootstrap: CMAKE_PREFIX_PATH or Kokkos_ROOT names %s, and there is no such folder\n' "$folder" >&2
done

if [ -n "$prefix" ]; then
  mkdir -p "$prefix" || fail "--prefix: $prefix cannot be made"
  prefix=$(cd "$prefix" && pwd)
  export CMAKE_PREFIX_PATH="$prefix${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
fi

build="$root/build/$backend"
[ "$command" != library ] || build="$build-library"
[ "$command" != capi ] || build="$build-capi-$cpu"
logs="$build/logs"
dependencies="$root/build/dependencies"
mkdir -p "$logs" "$dependencies"
# what the build folder is configured for: no tests, the fast ones, all
tests=no
[ "$command" != test ] || tests=fast
[ $all = no ] || tests=all
cmake_options=()
case $command in
  build) cmake_options=("${passed_on[@]}") ;;
  library) cmake_options=(-DPRISMFIELD_BUILD_FILES=OFF "${passed_on[@]}") ;;
  capi)
    # Alone on other machines: of other libraries it needs libc, libgcc and libgomp, and a card's driver.
    cmake_options=(-DPRISMFIELD_BUILD_FILES=OFF -DPRISMFIELD_ENABLE_MPI=OFF -DPRISMFIELD_BUILD_CAPI=ON
      -DPRISMFIELD_ENABLE_CUFFT=OFF
      -DCMAKE_CXX_FLAGS=-DFMT_HEADER_ONLY=1
      "-DCMAKE_SHARED_LINKER_FLAGS=-static-libstdc++ -Wl,--as-needed,--gc-sections,--strip-all"
      "${passed_on[@]}")
    ;;
esac

# ---- the GPU

has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q GPU; }

if [ "$backend" = cuda ]; then
  for folder in "${CUDA_HOME:-}" "${CUDA_PATH:-}" "${CUDAToolkit_ROOT:-}" /usr/local/cuda; do
    command -v nvcc >/dev/null && break
    [ -n "$folder" ] && [ -x "$folder/bin/nvcc" ] && export PATH="$folder/bin:$PATH"
  done
  command -v nvcc >/dev/null || fail "--backend cuda: no nvcc; install NVIDIA's CUDA toolkit, or set CUDA_HOME to where it is"
  if [ -z "$gpu_arch" ]; then
    capability=$(has_gpu && nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -n 1) || capability=
    case $capability in
      7.0) gpu_arch=VOLTA70 ;;
      7.2) gpu_arch=VOLTA72 ;;
      7.5) gpu_arch=TURING75 ;;
      8.0) gpu_arch=AMPERE80 ;;
      8.6) gpu_arch=AMPERE86 ;;
      8.7) gpu_arch=AMPERE87 ;;
      8.9) gpu_arch=ADA89 ;;
      9.0 | "") gpu_arch=HOPPER90 ;;
      10.0) gpu_arch=BLACKWELL100 ;;
      12.0) gpu_arch=BLACKWELL120 ;;
      *) fail "a GPU of compute capability $capability: name it by --gpu-arch" ;;
    esac
  fi
fi

if [ "$backend" = hip ]; then
  for folder in "${HIP_PATH:-}" "${ROCM_PATH:-}" /opt/rocm; do
    command -v hipcc >/dev/null && break
    [ -n "$folder" ] && [ -x "$folder/bin/hipcc" ] && export PATH="$folder/bin:$PATH"
  done
  command -v hipcc >/dev/null ||
    fail "--backend hip: no hipcc; install AMD's ROCm (Debian: hipcc), or set ROCM_PATH to where it is"
  # It compiles host and device code.
  export CXX=hipcc
  if [ -z "$gpu_arch" ]; then
    name=$(rocminfo 2>/dev/null | sed -nE 's/^ *Name: *gfx([0-9a-f]+) *$/\1/p' | head -n 1) || name=
    gpu_arch=AMD_GFX$(printf '%s' "${name:-90a}" | tr a-f A-F)
  fi
fi

# ---- what is there, what is missing

# What every build depends on besides the sources: another value means that what was built does not fit any more.
# Options of cmake are prismfield's own, Kokkos is built without them.
# A home folder may be shared by machines with different processors.
processor=$(uname -m)
if [ "$cpu" = native ]; then
  processor="$processor $(grep -m 2 -E '^(model name|flags|Features)' /proc/cpuinfo | sort | cksum)"
fi
# compiler WORDS: where it lies, its version and what follows its name, however it is named: pip sets CC and CXX to other
# names of the compilers that are taken without. The version without its first word, the name.
compiler() {
  local words file version
  read -r -a words <<<"$1"
  file=$(command -v "${words[0]}") || return 0
  version=$("${words[@]}" --version 2>/dev/null </dev/null | head -n 1) || version=
  printf '%s\n' "$(readlink -f "$file") ${version#* } ${words[*]:1}"
}
# The second line is the processor, the third the compilers and their flags. Not the version of cmake: it compiles nothing.
settings() {
  printf '%s\n' "$backend $gpu_arch $cpu" "$processor" \
    "$(compiler "${CXX:-c++}"), $(compiler "${CC:-cc}"), ${CXXFLAGS:-} ${CFLAGS:-} ${LDFLAGS:-}" \
    "${CMAKE_PREFIX_PATH:-} ${Kokkos_ROOT:-}"
}

# cached NAME: its value in the configuration of the build folder, if there is one
cached() { [ ! -f "$build/CMakeCache.txt" ] || sed -n "s/^$1:[^=]*=//p" "$build/CMakeCache.txt"; }

generator=()
use_generator() {
  local ninja kept="$dependencies/ninja"
  # A build folder keeps the generator that it began with.
  if [ -n "${CMAKE_GENERATOR:-}" ] || [ -e "$build/Makefile" ]; then return; fi
  ninja=$(cached CMAKE_MAKE_PROGRAM)
  if [ ! -x "$ninja" ] || [ "${ninja##*/}" != ninja ]; then ninja=$(command -v ninja) || return 0; fi
  case $ninja in
    /tmp/* | "${TMPDIR:-/tmp}"/* | */builds-v*/*)
      # pip and uv bring it for the time of one build. Another version would not read its log and compile everything anew:
      # a copy stays.
      cp "$ninja" "$kept.new"
      if "$kept.new" --version >/dev/null 2>&1; then
        mv "$kept.new" "$kept"
        ninja=$kept
      fi
      ;;
  esac
  generator=(-G Ninja "-DCMAKE_MAKE_PROGRAM=$ninja")
}

cmake_is_usable() { command -v cmake >/dev/null && cmake -P "$root/cmake/probe/version.cmake" >/dev/null 2>&1; }

probe() {
  rm -rf "$build/probe"
  cmake -S "$root/cmake/probe" -B "$build/probe" "${generator[@]}" "-DDEVICE=$device" "-DTESTS=$([ $tests = no ] || echo yes)" \
    "${cmake_options[@]}" >"$logs/probe.log" 2>&1 </dev/null
}
found() { grep -q "^found $1 " "$logs/probe.log"; }
found_dir() { sed -n "s/^found $1 [^ ]* //p" "$logs/probe.log"; }

# python_with MODULE...: the first Python that imports them all. What lies in the working folder is none of them: a file
# xarray.py there must not run, least of all as root.
python_with() {
  local python imports
  imports="import sys; sys.path = [p for p in sys.path if p]; import $(printf '%s,' "$@" | sed 's/,$//')"
  for python in "${PRISMFIELD_PYTHON:-}" python3 /usr/bin/python3; do
    if [ -z "$python" ] || ! command -v "$python" >/dev/null; then continue; fi
    if "$python" -c "$imports" 2>/dev/null; then
      printf '%s' "$python"
      return 0
    fi
  done
  return 1
}

# Sets `needed`, the Debian packages to install, and leaves the answers of CMake in probe.log.
look_around() {
  needed=()
  # what the build does without: installed with what is needed, never asked for alone
  local wished=()
  [ -n "$(compiler "${CXX:-c++}")" ] && [ -n "$(compiler "${CC:-cc}")" ] || needed+=(g++)
  cmake_is_usable || needed+=(cmake)
  command -v ninja >/dev/null || command -v make >/dev/null || needed+=(ninja-build)
  if [ ${#needed[@]} -eq 0 ]; then
    use_generator
    probe || [ -s "$logs/probe.log" ]
  else
    : >"$logs/probe.log"
  fi
  found fmt || needed+=(libfmt-dev)
  if [[ " ${cmake_options[*]-} " != *" -DPRISMFIELD_ENABLE_MPI=OFF "* ]]; then
    found MPI || needed+=(libopenmpi-dev openmpi-bin)
  fi
  if [ "$command" != library ] && [ "$command" != capi ]; then
    found HDF5 || needed+=(libhdf5-dev)
    found yaml-cpp || needed+=(libyaml-cpp-dev)
    found xxHash || needed+=(libxxhash-dev)
    found nlohmann_json || needed+=(nlohmann-json3-dev)
    found CLI11 || needed+=(libcli11-dev)
    found PROJ || wished+=(libproj-dev)
  fi
  if ! found Kokkos || ! found KokkosKernels; then
    have_kokkos_source || python_with venv ensurepip >/dev/null || needed+=(python3-venv)
  fi
  have_pocketfft || have_archive "$numpy_name" "$numpy_sha256" || python_with venv ensurepip >/dev/null || needed+=(python3-venv)
  if [ "$command" = run ]; then
    # What figures need. munkres takes the place of SciPy, which matplotlib's fonts ask for otherwise, with Boost behind it.
    python_with matplotlib h5py >/dev/null ||
      needed+=(python3-matplotlib python3-munkres python3-h5py)
  fi
  if [ $tests != no ]; then
    python_with xarray matplotlib jinja2 netCDF4 h5py yaml >/dev/null ||
      needed+=(python3-xarray python3-matplotlib python3-jinja2 python3-netcdf4 python3-h5py python3-yaml)
    found GTest || needed+=(libgtest-dev libgmock-dev)
    # The test of the Python package says that it was not there.
    python_with pytest scipy h5py matplotlib jinja2 yaml >/dev/null ||
      wished+=(python3-pytest python3-scipy python3-h5py python3-matplotlib python3-jinja2 python3-yaml)
    command -v mpirun >/dev/null || command -v mpiexec >/dev/null || needed+=(openmpi-bin)
  fi
  if [ $tests = all ]; then
    found benchmark || needed+=(libbenchmark-dev)
    # The tests that use them say that they were not there.
    command -v ogrinfo >/dev/null || wished+=(gdal-bin)
    command -v ncdump >/dev/null || wished+=(netcdf-bin)
    command -v gmt >/dev/null || wished+=(gmt)
    python_with h5netcdf >/dev/null || wished+=(python3-h5netcdf)
  fi
  if [ ${#needed[@]} -gt 0 ] && [ "$packages" = yes ]; then needed+=(${wished[@]+"${wished[@]}"}); fi
}

install_packages() {
  export DEBIAN_FRONTEND=noninteractive
  # What a package starts may stay for days, and is not to hold the lock.
  exec 9>&-
  # A call that was killed may have left packages unpacked, and apt-get would refuse.
  dpkg --configure -a || true
  apt-get update
  apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=600 "$@"
}

# ---- source archives of PyPI

# have_archive NAME SHA256: whether it lies in build/dependencies, undamaged.
have_archive() {
  [ -f "$dependencies/$1" ] && printf '%s  %s\n' "$2" "$dependencies/$1" | sha256sum --check --status
}

# write_idle_backend FOLDER PACKAGE VERSION MODULE: a build backend that builds nothing. pip asks an archive's own backend
# for a name and a version before it hands the archive over, would fetch that backend from the index, whatever version
# lies there, and run it; this one answers.
write_idle_backend() {
  mkdir -p "$(dirname "$1/$4")"
  touch "$(dirname "$1/$4")/__init__.py"
  cat >"$1/$4.py" <<END
import os


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    name = "$2-$3.dist-info"
    os.mkdir(os.path.join(metadata_directory, name))
    with open(os.path.join(metadata_directory, name, "METADATA"), "w") as file:
        file.write("Metadata-Version: 2.1\\nName: $2\\nVersion: $3\\n")
    return name
END
}

# fetch_archive PACKAGE VERSION SHA256 MODULE: the source archive, whose build backend is MODULE, into build/dependencies.
# Nothing of it is run before its checksum is verified: pip holds it against --hash as soon as it is there.
fetch_archive() {
  local name="$1-$2.tar.gz" folder="$dependencies/download" python
  have_archive "$name" "$3" && return
  python="$folder/venv/bin/python"
  # one environment for all archives of a call
  if [ ! -x "$python" ]; then
    mkdir -p "$folder"
    "$(python_with venv ensurepip)" -I -m venv "$folder/venv"
  fi
  write_idle_backend "$("$python" -I -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" "$1" "$2" "$4"
  printf '%s==%s --hash=sha256:%s\n' "$1" "$2" "$3" >"$folder/requirement"
  # In the build folder, and not in /tmp, which is small on many machines.
  # Where there is no network, this is to be known soon, not after five attempts.
  TMPDIR="$folder" "$python" -I -m pip --disable-pip-version-check --retries "${PIP_RETRIES:-1}" --timeout 15 download \
    --no-deps --require-hashes --no-build-isolation --no-binary "$1" --dest "$folder" --requirement "$folder/requirement"
  if ! printf '%s  %s\n' "$3" "$folder/$name" | sha256sum --check; then
    echo "The archive downloaded is not the pinned one: it is not used."
    return 1
  fi
  mv "$folder/$name" "$dependencies/$name"
}

# What a user is told where an archive of this NAME and SHA256 cannot be had, but for the rest of the last sentence.
archive_remedy() {
  printf 'the source archive of %s cannot be had: without a network, put\n%s (SHA-256 %s)\nfrom PyPI into %s and run this again, or name' \
    "$3" "$1" "$2" "$dependencies"
}

# ---- Kokkos from its source archive

archive_name=pygenten-0.1.5.tar.gz
archive_sha256=e620f05c742905e2db705d875f1cac92ef0ed453f9e6734e9beda26cc0f9cce7
archive="$dependencies/$archive_name"
source_dir="$dependencies/source"

have_kokkos_source() { [ -f "$source_dir/unpacked" ] || have_archive "$archive_name" "$archive_sha256"; }

# The archive of pygenten holds the unmodified releases of Kokkos 4.7.00 and Kokkos Kernels 4.4.00; nothing else of it is
# used.
fetch_kokkos() {
  rm -rf "$source_dir"
  fetch_archive pygenten 0.1.5 "$archive_sha256" scikit_build_core/build
  mkdir -p "$source_dir"
  tar -xzf "$archive" -C "$source_dir" --strip-components=2 --wildcards '*/tpls/kokkos/*' '*/tpls/kokkos-kernels/*'
  touch "$source_dir/unpacked"
}

common_options() {
  local standard=20
  # hipcc's clang 15 breaks down on the standard library's regular expressions in C++20, which Kokkos itself includes.
  [ "$backend" = hip ] && standard=17
  printf '%s\n' -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=$standard -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    "-DCMAKE_INSTALL_PREFIX=$installed"
  if [ "$backend" = cuda ] && [ "$(cuda_major)" -ge 13 ]; then
    printf '%s\n' "-DCMAKE_CXX_FLAGS=-include $root/cmake/cuda13_compatibility.hpp"
  fi
}
cuda_major() { nvcc --version | sed -n 's/.*release \([0-9]*\)\..*/\1/p'; }

build_kokkos() {
  local options
  mapfile -t options < <(common_options)
  options+=(-DKokkos_ENABLE_SERIAL=ON -DKokkos_ENABLE_DEPRECATED_CODE_4=OFF ${kokkos_cpu:+"$kokkos_cpu"})
  if [ "$backend" = openmp ] || [ "$backend" = cuda ]; then options+=(-DKokkos_ENABLE_OPENMP=ON); fi
  if [ "$backend" = openmp ] || [ "$backend" = serial ]; then
    # Each source includes all of Kokkos: as one they take a third of the time.
    options+=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0)
  fi
  if [ "$backend" = cuda ]; then
    # The old View: with nvcc 12.9 and later and C++20 the new one of Kokkos 4.7.00 is laid out differently on host and
    # device, and kernels do nothing without saying so (kokkos/kokkos pull request 8615).
    options+=(-DKokkos_ENABLE_CUDA=ON "-DKokkos_ARCH_$gpu_arch=ON" -DKokkos_ENABLE_IMPL_VIEW_LEGACY=ON)
  fi
  if [ "$backend" = hip ]; then
    # Without rocThrust, which Kokkos needs for sorting only.
    options+=(-DKokkos_ENABLE_HIP=ON "-DKokkos_ARCH_$gpu_arch=ON" -DKokkos_ENABLE_ROCTHRUST=OFF)
  fi
  rm -rf "$work/kokkos"
  cmake -S "$source_dir/kokkos" -B "$work/kokkos" "${generator[@]}" "${options[@]}"
  cmake --build "$work/kokkos" --parallel "$jobs"
  cmake --install "$work/kokkos"
}

# build_kokkos_kernels KOKKOS_DIR
build_kokkos_kernels() {
  local options
  mapfile -t options < <(common_options)
  # CUDA's own vector algebra is half a gigabyte, which a package cannot bring along, for a sum of vectors.
  options+=(-DKokkosKernels_ENABLE_TPL_CUBLAS=OFF -DKokkosKernels_ENABLE_TPL_CUSPARSE=OFF -DKokkosKernels_ENABLE_TPL_CUSOLVER=OFF)
  rm -rf "$work/kokkos-kernels"
  # Without instances made beforehand: those that are used are compiled where they are used.
  cmake -S "$source_dir/kokkos-kernels" -B "$work/kokkos-kernels" "${generator[@]}" "${options[@]}" "-DKokkos_DIR=$1" \
    -DKokkosKernels_ENABLE_ALL_COMPONENTS=OFF -DKokkosKernels_ENABLE_COMPONENT_BLAS=ON \
    -DKokkosKernels_ADD_DEFAULT_ETI=OFF
  cmake --build "$work/kokkos-kernels" --parallel "$jobs"
  cmake --install "$work/kokkos-kernels"
}

package_dir() { dirname "$(find "$installed" -name "$1Config.cmake" -print -quit)"; }

# Sets kokkos_dir and kokkos_kernels_dir.
provide_kokkos() {
  if found Kokkos && found KokkosKernels; then
    kokkos_dir=$(found_dir Kokkos)
    kokkos_kernels_dir=$(found_dir KokkosKernels)
    printf 'Kokkos: %s\n' "$kokkos_dir" >&2
    return
  fi
  work="$dependencies/$backend${gpu_arch:+-$gpu_arch}$([ "$cpu" = native ] || echo "-$cpu")"
  installed="$work/install"
  local stamp
  stamp="$(settings; found_dir Kokkos; echo "$archive_sha256")"
  if [ "$(cat "$work/stamp" 2>/dev/null)" != "$stamp" ]; then
    rm -rf "$work"
    mkdir -p "$work"
    [ -z "$kokkos_hints" ] ||
      printf 'Kokkos and Kokkos Kernels are not both in CMAKE_PREFIX_PATH or Kokkos_ROOT: what is missing is built here\n' >&2
    if [ ! -f "$source_dir/unpacked" ]; then
      local from="PyPI"
      if have_archive "$archive_name" "$archive_sha256"; then
        from="build/dependencies"
      elif [ -e "$archive" ]; then
        printf '%s is damaged, or another one: its SHA-256 is not %s. It is fetched anew.\n' "$archive" \
          "$archive_sha256" >&2
      fi
      remedy="$(archive_remedy "$archive_name" "$archive_sha256" Kokkos) a
Kokkos and Kokkos Kernels that are here by CMAKE_PREFIX_PATH or a module."
      step kokkos_source "Kokkos: source archive from $from" fetch_kokkos
    fi
    local what=${device/SERIAL/Serial}
    what=${what/OPENMP/OpenMP and Serial}
    what=${what/CUDA/CUDA for $gpu_arch, OpenMP and Serial}
    what=${what/HIP/HIP for $gpu_arch and Serial}
    if found Kokkos; then
      step kokkos_kernels "Kokkos Kernels 4.4.00 for the Kokkos of $(found_dir Kokkos)" \
        build_kokkos_kernels "$(found_dir Kokkos)"
    else
      step kokkos "Kokkos 4.7.00 with $what" build_kokkos
      step kokkos_kernels "Kokkos Kernels 4.4.00" build_kokkos_kernels "$(package_dir Kokkos)"
    fi
    # The objects are ten times what is installed.
    rm -rf "$work/kokkos" "$work/kokkos-kernels"
    printf '%s\n' "$stamp" >"$work/stamp"
  fi
  if found Kokkos; then kokkos_dir=$(found_dir Kokkos); else kokkos_dir=$(package_dir Kokkos); fi
  kokkos_kernels_dir=$(package_dir KokkosKernels)
}

# ---- pocketfft, a header

numpy_name=numpy-2.4.6.tar.gz
numpy_sha256=f3a3570c4a2a16746ac2c31a7c7c7b0c186b95ce902e33db6f28094ed7387dda
# where cmake/FindPocketfft.cmake looks too
pocketfft_header="$dependencies/pocketfft/pocketfft_hdronly.h"

have_pocketfft() { [ -f "$pocketfft_header" ] || found Pocketfft; }

# The archive of numpy holds the header of pocketfft's C++ branch; nothing else of it is used.
fetch_pocketfft() {
  fetch_archive numpy 2.4.6 "$numpy_sha256" mesonpy/__init__
  local folder="$dependencies/pocketfft"
  rm -rf "$folder" "$folder.new"
  mkdir -p "$folder.new"
  tar -xzf "$dependencies/$numpy_name" -C "$folder.new" --strip-components=4 --wildcards \
    '*/numpy/fft/pocketfft/pocketfft_hdronly.h' '*/numpy/fft/pocketfft/LICENSE.md'
  # Half a header would be taken for one.
  mv "$folder.new" "$folder"
}

provide_pocketfft() {
  have_pocketfft && return
  remedy="$(archive_remedy "$numpy_name" "$numpy_sha256" pocketfft) the
folder of its header, pocketfft_hdronly.h, by Pocketfft_ROOT."
  step pocketfft "pocketfft: header out of a source archive" fetch_pocketfft
}

# ---- prismfield itself

configure() {
  local options=()
  [ -z "$prefix" ] || options+=("-DCMAKE_INSTALL_PREFIX=$prefix")
  # run and build leave the tests of an earlier call as they are.
  if [ $tests = all ]; then
    options+=(-DPRISMFIELD_BUILD_TESTS=ON -DPRISMFIELD_BUILD_PERF=ON)
  elif [ $tests = fast ]; then
    options+=(-DPRISMFIELD_BUILD_TESTS=ON)
  elif [ ! -f "$build/CMakeCache.txt" ]; then
    options+=(-DPRISMFIELD_BUILD_TESTS=OFF)
  fi
  cd "$root"
  if ! cmake --preset "$backend" -B "$build" "${generator[@]}" "-DKokkos_DIR=$kokkos_dir" \
    "-DKokkosKernels_DIR=$kokkos_kernels_dir" "${options[@]}" "${cmake_options[@]}"; then
    # What was not found would not be looked for again.
    rm -f "$build/CMakeCache.txt"
    return 1
  fi
}

compile() {
  cmake --build "$build" --parallel "$jobs" --target "$@"
}

lock_file="$root/build/bootstrap.lock"

# One call at a time: they share build/dependencies, and mostly a build folder. What a killed one left running still holds
# the lock, for its compilers inherit it: two ninjas in a folder spoil each other's files.
take_lock() {
  local status=0 holder
  command -v flock >/dev/null || return 0
  exec 9>>"$lock_file"
  # Within a second, whoever took it has written who that is.
  flock -w 1 9 || status=$?
  if [ $status -eq 1 ]; then
    holder=$(head -n 1 "$lock_file")
    if [ "$(holder_text "${holder%% *}" 2>/dev/null)" = "$holder" ]; then
      printf 'bootstrap: waiting for %s, which builds here\n' "$holder" >&2
    else
      printf 'bootstrap: waiting for what is left of %s, which built here\n' "$holder" >&2
    fi
    status=0
    flock 9 || status=$?
  fi
  # There are file systems of clusters that know no locks: there it goes on without.
  [ $status -ne 0 ] || holder_text $$ >"$lock_file"
}
# holder_text PID: its number and command
holder_text() { printf '%s (%s)\n' "$1" "$(tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" | sed 's/ $//')"; }
release_lock() {
  [ ! -e "$lock_file" ] || : >"$lock_file"
  exec 9>&-
}

stamp_file="$build/bootstrap.stamp"
wanted_stamp() { settings; echo "${cmake_options[*]-} prefix $prefix pocketfft"; }
is_configured() {
  # A call for `run` after one for `test` finds everything; the other way round the tests' needs are still to be looked at.
  local level stamped tool
  # pip brings both for the time of one build
  for tool in CMAKE_COMMAND CMAKE_MAKE_PROGRAM; do
    [ -x "$(cached $tool)" ] || return 1
  done
  for tool in Kokkos KokkosKernels; do
    [ -f "$(cached ${tool}_DIR)/${tool}Config.cmake" ] || return 1
  done
  stamped=$(cat "$stamp_file" 2>/dev/null)
  for level in all fast no; do
    [ "$stamped" != "$wanted tests $level" ] || return 0
    [ $level != $tests ] || return 1
  done
}

take_lock
wanted=$(wanted_stamp)
if ! is_configured; then
  look_around
  if [ ${#needed[@]} -gt 0 ]; then
    mapfile -t needed < <(printf '%s\n' "${needed[@]}" | sort -u)
    install_line="apt-get install -y --no-install-recommends ${needed[*]}"
    if [ "$packages" = no ] || ! command -v apt-get >/dev/null; then
      fail "missing here: what Debian calls ${needed[*]}
Provide it by modules, Spack or a prefix (CMAKE_PREFIX_PATH) and run this again. What CMake looked for: $logs/probe.log"
    elif [ "$(id -u)" -ne 0 ]; then
      printf 'Some packages are missing. Install them by this line, then run this again:\n\n    sudo %s\n\n' "$install_line" >&2
      exit 1
    fi
    remedy="the packages cannot be installed. Without a network, take them from a mirror, or provide them by modules, Spack
or a prefix (CMAKE_PREFIX_PATH) and say --no-packages."
    step packages "Packages: ${needed[*]}" install_packages "${needed[@]}"
    look_around
    # cmake was missing until now: only with it could the rest be asked for.
    [ ${#needed[@]} -eq 0 ] || fail "still missing after the installation: ${needed[*]}; see $logs/probe.log and $logs/packages.log"
  fi
  rm -rf "$dependencies/download"
  provide_kokkos
  provide_pocketfft
  rm -rf "$dependencies/download"
  # once more: the packages may have brought the compilers
  wanted=$(wanted_stamp)
  # processor and compilers of what is there; what the flags read may be the same and mean something else
  compiled_for=$(sed -n 2,3p "$stamp_file" 2>/dev/null) || compiled_for=
  if grep -qs '^unfinished' "$stamp_file" || grep -qsE '^Kokkos(Kernels)?_DIR:.*-NOTFOUND$' "$build/CMakeCache.txt" ||
    { [ -n "$compiled_for" ] && [ "$(sed -n 2p <<<"$compiled_for")" != "$(sed -n 3p <<<"$wanted")" ]; }; then
    # Half a configuration is not believed, and a cache keeps its compilers, whatever CXX says.
    rm -f "$build/CMakeCache.txt"
  fi
  if [ -f "$stamp_file" ]; then sed -i '1s/^\(unfinished \)*/unfinished /' "$stamp_file"; else echo unfinished >"$stamp_file"; fi
  step configure "prismfield: configure" configure
  if [ -n "$compiled_for" ] && [ "$compiled_for" != "$(sed -n 2,3p <<<"$wanted")" ]; then
    step clean "prismfield: another processor or compiler than last time, compile anew" compile clean
  fi
  printf '%s tests %s\n' "$wanted" "$tests" >"$stamp_file.new"
  mv "$stamp_file.new" "$stamp_file"
fi

case $command in
  test) target=$([ $all = yes ] && echo all || echo fast_tests) ;;
  library) target=prismfield_core ;;
  capi) target=prismfield_c ;;
  *) target=prismfield ;;
esac
[ -z "$prefix" ] || target=all
step build "prismfield: build" compile $target
[ -z "$prefix" ] || step install "prismfield: install into $prefix" cmake --install "$build"
release_lock

case $command in
  run)
    exec "$build/bin/prismfield" run "$case_file" "${passed_on[@]}"
    ;;
  build)
    printf 'built: %s\n' "$build/bin/prismfield"
    ;;
  library)
    printf 'built: %s\n' "$build"
    ;;
  capi)
    printf 'built: %s\n' "$build/src/libprismfield.so"
    ;;
  test)
    selection=()
    [ $all = yes ] || selection=(-L fast)
    if { [ "$backend" = cuda ] && ! has_gpu; } || { [ "$backend" = hip ] && [ ! -e /dev/kfd ]; }; then
      # Kokkos with CUDA or HIP does not start without a GPU.
      printf 'no GPU here: these tests are compiled and not run:\n' >&2
      ctest --test-dir "$build" -N "${selection[@]}" -L device | sed -n 's/^ *Test *#[0-9]*: */    /p' >&2
      selection+=(-LE device)
    fi
    exec ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$(nproc)" "${selection[@]}" \
      "${passed_on[@]}"
    ;;
esac
