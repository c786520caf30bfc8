# The everyday commands; each installs what it needs (scripts/setup.sh) and builds with CMake.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# Tests of the engine: what has kernels, threads and plans.
ENGINE_TESTS := common memory device graph ops autodiff passes plan exec op_sweep bad_input device_plugin
# Those under ThreadSanitizer: the engine, and the threads that read data.
THREAD_TESTS := $(ENGINE_TESTS) random_graphs data
TARGETS ?= $(sort $(basename $(notdir $(wildcard tests/fuzz/fuzz_*.cpp))))
TIME ?= 600
FUZZ_LIMITS := -timeout=20 -rss_limit_mb=3072 -max_len=32768
empty :=
either = ^($(subst $(empty) $(empty),|,$(strip $(1))))(_[0-9])?$$

.PHONY: help setup build demo test bench asan tsan fuzz test-arm64 test-avx512 format tidy clean

help:  ## says what there is
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/make \1\t\2/' | expand -t 18

setup:
	@scripts/setup.sh

build: setup  ## builds everything; the program is build/bin/plimsoll
	cmake --preset release
	cmake --build build --parallel $(JOBS)

demo: build  ## trains a small network on data/fashion_mnist_12k.npz, draws what it learned, and shows the guard
	build/bin/plimsoll demo --output build/demo
	if .venv/bin/python -c 'import ipykernel, nbclient' 2> /dev/null; then .venv/bin/python scripts/guard_demo.py; else echo 'the guard is not shown: no ipykernel and nbclient in .venv'; fi

test: build  ## builds, then runs all tests
	ctest --test-dir build --output-on-failure --parallel $(JOBS)
	if [ -x .venv/bin/pytest ] && [ -d tests/python ]; then .venv/bin/pytest -q tests/python; fi

bench: build  ## compares with the peers; ROWS="mlp100_b32 ..." takes some rows only
	bench/run.sh $(ROWS)

asan: setup  ## all tests under AddressSanitizer and UBSan
	cmake --preset asan
	cmake --build build/asan --parallel $(JOBS)
	ctest --test-dir build/asan --output-on-failure --parallel $(JOBS)

tsan: setup  ## the tests of the engine and of reading data under ThreadSanitizer (without oneDNN)
	cmake --preset tsan
	cmake --build build/tsan --parallel $(JOBS) --target $(addsuffix _test,$(THREAD_TESTS))
	ctest --test-dir build/tsan --output-on-failure --parallel $(JOBS) -R '$(call either,$(THREAD_TESTS))'

# What libFuzzer finds on the way is kept in build/fuzz/corpus, so that a second run goes on from there.
fuzz: setup  ## clang's libFuzzer on every parser, TIME=600 seconds each; TARGETS="fuzz_graph ..." takes some only
	cmake --preset fuzz
	cmake --build build/fuzz --parallel $(JOBS) --target $(TARGETS) plimsoll-h5
	for target in $(TARGETS); do \
	  echo "== $$target"; mkdir -p build/fuzz/corpus/$$target; corpus=tests/fuzz/corpus/$$target; \
	  build/fuzz/bin/$$target -max_total_time=$(TIME) $(FUZZ_LIMITS) -artifact_prefix=build/fuzz/$$target- \
	    build/fuzz/corpus/$$target $$([ -d $$corpus ] && echo $$corpus) 2> build/fuzz/$$target.log \
	    || { tail -n 50 build/fuzz/$$target.log; exit 1; }; \
	  tail -n 1 build/fuzz/$$target.log; \
	done

# Of the random graphs some only: all of them would take an emulator hours.
test-arm64:  ## builds for AArch64 and runs the engine's tests under qemu-user
	@scripts/setup.sh --arm64
	cmake --preset arm64
	cmake --build build/arm64 --parallel $(JOBS) --target $(addsuffix _test,$(ENGINE_TESTS) random_graphs)
	ctest --test-dir build/arm64 --output-on-failure --parallel $(JOBS) -R '$(call either,$(ENGINE_TESTS))'
	GTEST_FILTER='OtherRandomGraphs.*' PLIMSOLL_RANDOM_GRAPHS=1:100 ctest --test-dir build/arm64 --output-on-failure --no-tests=error -R '^random_graphs_0$$'

test-avx512:  ## runs the kernels' tests on an emulated processor with AVX-512 (half an hour)
	@scripts/setup.sh --avx512
	cmake --preset release
	cmake --build build --parallel $(JOBS) --target op_sweep_test device_test
	scripts/test_avx512.sh

format: setup  ## formats the C++ files changed since main
	git diff --name-only --diff-filter=d main -- '*.cpp' '*.h' | xargs -r clang-format -i

tidy: setup  ## runs clang-tidy (the checks of .clang-tidy) over the sources
	cmake --preset release
	git ls-files 'src/*.cpp' 'guard/*.cpp' 'cli/*.cpp' ':!*_test.cpp' ':!*_macos.cpp' | xargs -P $(JOBS) -n 4 clang-tidy --quiet -p build

clean:  ## removes what was built; .venv and .deps stay
	rm -rf build
