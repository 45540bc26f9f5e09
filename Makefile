# The ways in. `make help` lists them; CMakePresets.json has the variants behind them.
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
export NINJA_STATUS ?= [%f/%t] 

BIN := build/trainscope

.PHONY: help demo build test test-long check bench install packages format asan tsan truth calibration statistics web screenshots fuzz cross tidy clean
.DEFAULT_GOAL := help

help: ## print this list
	@sed -n 's/^\([a-z -]*\):[^#]*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | column -t -s @ 2>/dev/null || \
	 sed -n 's/^\([a-z -]*\):[^#]*## \(.*\)/  make \1  \2/p' $(MAKEFILE_LIST)

demo: build ## install dependencies, build, record a slow training and its mended twin, write report.html
	@$(BIN) demo

build: ## build build/trainscope and build/trainscope-workload (WORKLOAD=off omits the second)
	@scripts/install-deps build
	@scripts/build

test: ## run everything: static checks, unit, integration, truth and fault tests
	@scripts/install-deps build
	@scripts/build --tests
	@scripts/run-tests build/release build/workload-tree

test-long: test ## run what is too long for test: survival tests in full, tsan, asan, arm64, fuzzers
	@scripts/run-long-tests
	@$(MAKE) --no-print-directory tsan
	@$(MAKE) --no-print-directory asan
	@$(MAKE) --no-print-directory cross
	@$(MAKE) --no-print-directory fuzz

check: ## run only the static checks: format, tidy, layering, docs, scripts
	@scripts/install-deps test
	@scripts/configure release -DTRAINSCOPE_TESTS=ON
	@cmake --build --preset release --target trainscope
	@scripts/run-tests build/release -- -L static

bench: build ## measure the overhead of recording, compared with other tools and limits
	@scripts/install-deps bench
	@bench/run

install: build ## install into PREFIX (default /usr/local), below DESTDIR if set
	@scripts/install "$(DESTDIR)" "$(PREFIX)"

packages: build ## write a wheel, a .deb and a tar.gz for amd64 and arm64 into build/packages
	@scripts/install-deps cross
	@scripts/configure arm64
	@cmake --build --preset arm64 --target trainscope
	@scripts/package build/trainscope build/arm64/trainscope

format: ## format every C++ file with clang-format
	@scripts/install-deps test
	@scripts/check-format --fix

asan tsan: ## run the unit tests and fuzz corpora under a sanitizer
	@scripts/install-deps test
	@scripts/configure $@
	@cmake --build --preset $@
	@scripts/run-tests build/$@

truth: build ## check what diagnose says of planted jobs, and write it into docs (on an idle machine)
	@python3 test/diagnosis/truth.py --keep build/truth --write

calibration: build ## compare confidences with randomised jobs (35 minutes on an idle machine, resumable)
	@python3 test/diagnosis/calibrate.py --keep build/calibration
	@python3 test/diagnosis/calibrate.py --keep build/calibration --again --score

statistics: ## compare simulated runs, and write the table of docs/statistics.md (two minutes)
	@scripts/install-deps test
	@scripts/configure release -DTRAINSCOPE_TESTS=ON
	@cmake --build --preset release --target statistics-effects
	@python3 -B test/statistics/calibrate.py

web: ## build the browser client from web/src into web/dist, which is checked in
	@scripts/build-web

screenshots: build ## take pictures of the pages in a browser, dark and light, into docs/img
	@scripts/install-deps test
	@scripts/screenshots

fuzz: ## run every fuzzer for FUZZ_SECONDS (default 60)
	@scripts/install-deps test
	@scripts/configure fuzz
	@cmake --build --preset fuzz
	@scripts/run-fuzzers $(FUZZ_SECONDS)

tidy: ## run clang-tidy on what changed since it last passed
	@scripts/install-deps test
	@scripts/configure release
	@scripts/check-tidy --all

cross: ## build build/arm64/trainscope, and run the unit tests under qemu
	@scripts/install-deps cross
	@scripts/configure arm64
	@cmake --build --preset arm64
	@scripts/run-tests build/arm64

clean: ## remove build/
	@rm -rf build
