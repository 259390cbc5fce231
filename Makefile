# The ways in. Every target is short: what it does stands in scripts/ and tests/.
PYTHON ?= /usr/bin/python3
JOBS ?= $(shell nproc)
SOURCES = $(shell git ls-files 'src/*.cc' 'src/*.h' 'tests/*.cc' 'tests/*.h' 'benchmarks/*.cc' 'benchmarks/*.h' 'clients/*.cc' 'clients/*.h')

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */  make \1\t/' | expand -t 24

build:  ## build/release/seend and build/release/seenctl, installing what building needs
	@scripts/setup.sh --build
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target seend seenctl

demo: build  ## the main job on an embedded broker with real exposures; KEEP=1 leaves it running
	@KEEP=$(KEEP) scripts/demo.sh

test:  ## every test, installing what they need; one closing line (parts: tests/run.py --help)
	@scripts/setup.sh --test
	@$(PYTHON) tests/run.py

bench: bench-build  ## side by side with Flink, Kafka Streams and Redis; ONLY=seend,redis SCENARIO=backlog ARGS=...
	@$(PYTHON) benchmarks/run.py $(if $(ONLY),--only $(ONLY)) $(if $(SCENARIO),--scenario $(SCENARIO)) $(ARGS)

bench-build:
	@scripts/setup.sh --bench
	@cmake --preset release -DSEEN_BENCHMARKS=ON
	@cmake --build --preset release --parallel $(JOBS) --target seend seenctl seen_benchmarks

bench-filters:  ## every kind of filter, measured: docs/FILTERS.md; a few minutes; ARGS=--help
	@scripts/setup.sh --test
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target bench_filters
	@$(PYTHON) benchmarks/filters/run.py $(ARGS)

bench-similar:  ## how many near-duplicates are found, of real texts: docs/SIMILAR.md; a few minutes; ARGS=--help
	@scripts/setup.sh --test
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target bench_similar
	@$(PYTHON) benchmarks/similar/run.py $(ARGS)

check-format:  ## names files that clang-format would change
	@clang-format --dry-run --Werror $(SOURCES)

tidy:  ## clang-tidy with .clang-tidy over the release build's sources
	@cmake --preset release >/dev/null
	@git ls-files 'src/*.cc' | xargs -P $(JOBS) -n 4 clang-tidy --quiet -p build/release

clean:  ## removes build/
	@rm -rf build

.DEFAULT_GOAL := help
.PHONY: help build demo test bench bench-build bench-filters bench-similar check-format tidy clean
