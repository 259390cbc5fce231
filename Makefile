# The ways in. Every target is short: what it does stands in scripts/ and tests/.
PYTHON ?= /usr/bin/python3
JOBS ?= $(shell nproc)

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
	@$(PYTHON) tests/run.py test

check:  ## format, headers, clang-tidy with thread-safety analysis, and the tests under sanitizers
	@scripts/setup.sh --check
	@$(PYTHON) tests/run.py check

check-upgrade:  ## daemons of an earlier version, built from history, upgraded one by one under load; some minutes
	@scripts/setup.sh --test
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target seend seenctl
	@JOBS=$(JOBS) $(PYTHON) tests/check/upgrade.py

chaos:  ## three daemons under faults for SEEN_CHAOS_S seconds, an hour where it isn't set
	@scripts/setup.sh --test
	@SEEN_CHAOS_S=$${SEEN_CHAOS_S:-3600} $(PYTHON) tests/run.py system -k chaos

equality:  ## 5,000,000 events into the state in seven ways, compared by digest; SEEN_EQUALITY_EVENTS; some minutes
	@scripts/setup.sh --test
	@SEEN_EQUALITY_EVENTS=$${SEEN_EQUALITY_EVENTS:-5000000} $(PYTHON) tests/run.py system -k equality

ci:  ## test and check beside each other
	@scripts/setup.sh --check
	@$(PYTHON) tests/run.py test check

format:  ## rewrites the sources as clang-format of the pinned version does
	@scripts/setup.sh --check
	@$(PYTHON) tests/check/format.py --fix

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

clean:  ## removes build/
	@rm -rf build

.DEFAULT_GOAL := help
.PHONY: help build demo test check check-upgrade chaos equality ci format bench bench-build bench-filters bench-similar clean
