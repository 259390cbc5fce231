# The main commands. Every target is short: scripts/ and tests/ do the work.
PYTHON ?= /usr/bin/python3
JOBS ?= $(shell nproc)

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## */  make \1\t/' | expand -t 24

build:  ## builds build/release/seend and build/release/seenctl; installs what the build needs
	@scripts/setup.sh --build
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target seend seenctl

demo: build  ## shows the main job on an embedded broker with real exposures; KEEP=1 leaves it running
	@KEEP=$(KEEP) scripts/demo.py

test:  ## runs every test; installs what they need; prints one closing line (parts: tests/run.py --help)
	@scripts/setup.sh --test
	@$(PYTHON) tests/run.py test

check:  ## checks format and headers, runs clang-tidy, the tests under sanitizers, and small runs of the benchmarks
	@scripts/setup.sh --check
	@$(PYTHON) tests/run.py check

check-upgrade:  ## upgrades daemons of an earlier version, built from history, one by one under load; some minutes
	@scripts/setup.sh --test
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target seend seenctl
	@JOBS=$(JOBS) $(PYTHON) tests/check/upgrade.py

chaos:  ## runs three daemons under faults for SEEN_CHAOS_S seconds; default: an hour
	@scripts/setup.sh --test
	@SEEN_CHAOS_S=$${SEEN_CHAOS_S:-3600} $(PYTHON) tests/run.py system -k chaos

equality:  ## writes 5,000,000 events (SEEN_EQUALITY_EVENTS) to the state in seven ways, and compares digests; some minutes
	@scripts/setup.sh --test
	@SEEN_EQUALITY_EVENTS=$${SEEN_EQUALITY_EVENTS:-5000000} $(PYTHON) tests/run.py system -k equality

ci:  ## runs test and check in parallel
	@scripts/setup.sh --check
	@$(PYTHON) tests/run.py test check

format:  ## rewrites the sources as clang-format and ruff of the pinned versions do
	@scripts/setup.sh --check
	@$(PYTHON) tests/check/format.py --fix

bench: bench-build  ## compares seend with Flink, Kafka Streams and Redis; ONLY=seend,redis SCENARIO=backlog ARGS=...
	@$(PYTHON) benchmarks/run.py $(if $(ONLY),--only $(ONLY)) $(if $(SCENARIO),--scenario $(SCENARIO)) $(ARGS)

bench-build:
	@scripts/setup.sh --bench
	@cmake --preset release -DSEEN_BENCHMARKS=ON
	@cmake --build --preset release --parallel $(JOBS) --target seend seenctl seen_benchmarks

bench-filters:  ## measures every kind of filter: docs/FILTERS.md; a few minutes; ARGS=--help
	@scripts/setup.sh --test
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target bench_filters
	@$(PYTHON) benchmarks/filters/run.py $(ARGS)

bench-similar:  ## measures how many near-duplicates seend finds in real texts: docs/SIMILAR.md; some minutes; ARGS=--help
	@scripts/setup.sh --test
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target bench_similar
	@$(PYTHON) benchmarks/similar/run.py $(ARGS)

clean:  ## removes build/
	@rm -rf build

.DEFAULT_GOAL := help
.PHONY: help build demo test check check-upgrade chaos equality ci format bench bench-build bench-filters bench-similar clean
