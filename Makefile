# The ways in. `make help` lists them; CMakePresets.json has the variants behind them.
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
export NINJA_STATUS ?= [%f/%t] 

BIN := build/trainscope

.PHONY: help demo build test check bench install format asan tsan fuzz cross tidy clean
.DEFAULT_GOAL := help

help: ## this list
	@sed -n 's/^\([a-z ]*\):[^#]*## \(.*\)/  make \1@\2/p' $(MAKEFILE_LIST) | column -t -s @ 2>/dev/null || \
	 sed -n 's/^\([a-z ]*\):[^#]*## \(.*\)/  make \1  \2/p' $(MAKEFILE_LIST)

demo: build ## install what is missing, build, and show the whole story in under a minute
	@$(BIN) demo

build: ## build/trainscope and build/trainscope-workload (WORKLOAD=off leaves the second out)
	@scripts/install-deps build
	@scripts/build

test: ## everything: static checks, unit, integration, truth and fault tests
	@scripts/install-deps test
	@scripts/build --tests
	@scripts/run-tests build/release build/workload-tree

check: ## the static checks alone: format, tidy, layering, docs, scripts
	@scripts/install-deps test
	@scripts/configure release -DTRAINSCOPE_TESTS=ON
	@cmake --build --preset release --target trainscope
	@scripts/run-tests build/release -- -L static

bench: build ## what recording costs, against peers and limits
	@scripts/install-deps bench
	@bench/run

install: build ## into PREFIX (default /usr/local), below DESTDIR when set
	@scripts/install "$(DESTDIR)" "$(PREFIX)"

format: ## write every C++ file as clang-format would
	@scripts/install-deps test
	@scripts/check-format --fix

asan tsan: ## the unit tests and fuzz corpora under a sanitizer
	@scripts/install-deps test
	@scripts/configure $@
	@cmake --build --preset $@
	@scripts/run-tests build/$@

fuzz: ## search with every fuzzer, FUZZ_SECONDS each (default 60)
	@scripts/install-deps test
	@scripts/configure fuzz
	@cmake --build --preset fuzz
	@scripts/run-fuzzers $(FUZZ_SECONDS)

tidy: ## clang-tidy over what changed since it last passed
	@scripts/install-deps test
	@scripts/configure release
	@scripts/check-tidy --all

cross: ## build/arm64/trainscope, and the unit tests under qemu
	@scripts/install-deps cross
	@scripts/configure arm64
	@cmake --build --preset arm64
	@scripts/run-tests build/arm64

clean: ## remove build/
	@rm -rf build
