# The front door. `make` prints the menu; CI runs these same targets (.ci/run).
.DEFAULT_GOAL := menu
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

T ?= 60
SEQUENCES ?= 2000
SEED ?= 1
SEEDS ?= 1000
KILLS ?= 1000
JOBS ?= $(shell nproc)
SPACE := $(subst ,, )
# For tools/skips.py: what was skipped, and why.
CTEST_RESULTS := --output-junit Testing/results.xml --test-output-size-passed 1000000
export NINJA_STATUS ?= [%f/%t, %es]$(SPACE)

.PHONY: menu
menu:
	@echo "usage: make TARGET"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: ## install the Debian 12 packages this needs (as root or with sudo; idempotent)
	@[ -n "$${SKIP_SETUP:-}" ] || tools/setup

.PHONY: build
build: setup build/dev/build.ninja ## build everything with ASan and UBSan (preset dev)
	@ninja -C build/dev -j$(JOBS)

.PHONY: test
test: build ## set up, build and run all fast tests
	@ctest --preset dev -j$(JOBS) --label-exclude cluster $(CTEST_RESULTS)

.PHONY: frameworks
frameworks: setup ## torch, Trainer, Lightning, DeepSpeed for tests (PyPI, 1.6 GB, ~/.cache/amdahl)
	@python3 tools/frameworks.py

.PHONY: check
check: build format-check tidy ## formatting, tests/tidy, and clang-tidy over everything that ships
	@python3 tests/tidy/run_clang_tidy.py --jobs $(JOBS) $(TIDY_ARGS)

.PHONY: tidy
tidy: ## only tests/tidy: include arrows, sizes, bans, links, generated pages (seconds)
	@python3 tests/tidy/test_tidy.py
	@python3 tests/tidy/tidy.py
	@python3 tools/rules_table.py --check --strict
	@python3 tools/promises_table.py --check

.PHONY: format
format: ## rewrite all C++ with clang-format 19
	@python3 tests/tidy/tidy.py --cpp-files | xargs -0 clang-format-19 -i

.PHONY: format-check
format-check:
	@python3 tests/tidy/tidy.py --cpp-files | xargs -0 clang-format-19 --dry-run -Werror
	@echo "format: clean"

.PHONY: cluster-test
cluster-test: build ## tests against a real etcd and kube-apiserver (first run builds them)
	@tests/cluster/cluster build
	@ctest --test-dir build/dev -j1 -L cluster --no-tests=error --output-on-failure $(CTEST_RESULTS)

.PHONY: conformance
conformance: build ## SEQUENCES random sequences to the embedded and to a real API server
	@tests/cluster/cluster build
	@python3 tests/conformance/differential.py --sequences $(SEQUENCES) --seed $(SEED)

.PHONY: bench
bench: setup bench-embedded ## measure beside kube-apiserver, controller-runtime, kube-rs (46 min)
	@python3 tests/bench/run.py $(BENCH_ARGS)

.PHONY: simulate
simulate: setup build/release/build.ninja ## play SEEDS seeded failures per subject in virtual time
	@ninja -C build/release -j$(JOBS) simulate
	@build/release/tests/simulation/simulate --seeds $(SEEDS) $(SIMULATE_ARGS)

.PHONY: simulate-all
simulate-all: setup build/release/build.ninja ## every plan of one fault, and SEEDS seeds (1 h)
	@ninja -C build/release -j$(JOBS) simulate
	@build/release/tests/simulation/simulate --exhaustive --subject job,launched
	@build/release/tests/simulation/simulate --seeds $(SEEDS) $(SIMULATE_ARGS)

.PHONY: bench-embedded
bench-embedded: setup ## only the embedded API server, beside kube-apiserver and etcd
	@python3 tests/bench/embedded_run.py $(BENCH_EMBEDDED_ARGS)

.PHONY: bench-reports
bench-reports: setup ## 5,000 pods that report to the operator every five seconds
	@python3 tests/bench/reports_run.py $(BENCH_REPORTS_ARGS)

.PHONY: crowd
crowd: build ## 5,000 known and 5,000 idle connections to the report port at once
	@AMDAHL_CROWD=5000:5000 AMDAHL_CROWD_DESCRIPTORS=12000 \
	  python3 -m unittest discover -s tests/reports -v -k Crowd

.PHONY: bench-kernels
bench-kernels: setup ## only kernels/, beside ISA-L, zstd and memcpy
	@python3 tests/bench/kernels_run.py $(BENCH_KERNELS_ARGS)

.PHONY: bench-checkpoint
bench-checkpoint: setup ## checkpoints beside torch, DCP, safetensors, DeepSpeed, Orbax (2 h)
	@python3 tests/bench/checkpoint_run.py $(BENCH_CHECKPOINT_ARGS)

.PHONY: bench-checkpoint-peers
bench-checkpoint-peers: ## install those peers into build/peers, by pip from PyPI (6 GB)
	@python3 tests/bench/checkpoint_environments.py install

.PHONY: kill-checkpoints
kill-checkpoints: setup build/release/build.ninja ## SIGKILL in the middle of saves, KILLS times
	@ninja -C build/release -j$(JOBS) checkpoint_victim
	@AMDAHL_KILLS=$(KILLS) AMDAHL_SEED=$(SEED) \
	  AMDAHL_VICTIM=build/release/tests/checkpoint/checkpoint_victim \
	  python3 tests/checkpoint/test_sigkill.py

.PHONY: kill-agent
kill-agent: setup build/release/build.ninja ## SIGKILL for trainers and who writes their saves
	@ninja -C build/release -j$(JOBS) checkpoint_agent_victim
	@AMDAHL_KILLS=$(KILLS) AMDAHL_SEED=$(SEED) \
	  AMDAHL_AGENT_VICTIM=build/release/tests/checkpoint/checkpoint_agent_victim \
	  python3 tests/checkpoint/test_agent_sigkill.py

.PHONY: bench-operator
bench-operator: setup ## the operator beside Kubeflow, Volcano and batch/v1 Jobs (25 min)
	@python3 tests/bench/operator_run.py $(BENCH_OPERATOR_ARGS)

.PHONY: fuzz
fuzz: setup build/fuzz/build.ninja ## run every fuzz target for T seconds: make fuzz T=60
	@ninja -C build/fuzz -j$(JOBS) fuzzers
	@tests/fuzz/run $(T)

.PHONY: tsan
tsan: setup build/tsan/build.ninja ## build with the thread sanitizer and run all fast tests
	@ninja -C build/tsan -j$(JOBS)
	@ctest --preset tsan -j$(JOBS) --label-exclude cluster

.PHONY: release
release: setup build/release/build.ninja ## build what ships (preset release)
	@ninja -C build/release -j$(JOBS)

.PHONY: rules
rules: ## regenerate docs/reference/rules.md from the tests' tags
	@python3 tools/rules_table.py

.PHONY: promises
promises: ## regenerate docs/reference/promises.md from the tests' tags
	@python3 tools/promises_table.py

.PHONY: scenarios
scenarios: setup build/dev/build.ninja ## play operator/training/scenarios; UPDATE=1 rewrites them
	@ninja -C build/dev -j$(JOBS) training_test
	@$(if $(UPDATE),AMDAHL_UPDATE_SCENARIOS=1) build/dev/operator/training/training_test "Scenarios*"

.PHONY: crds
crds: setup build/dev/build.ninja ## regenerate crds/ and docs/reference from operator/api
	@ninja -C build/dev -j$(JOBS) amdahl_crds
	@build/dev/tools/crds/amdahl_crds .

.PHONY: clean
clean: ## remove what was built here (not the programs of tests/cluster)
	@rm -rf build/dev build/release build/tsan build/fuzz build/clang-tidy

# Only what the demo runs, as it ships.
.PHONY: demo
demo: setup build/release/build.ninja ## torchrun on a cluster in one process, paused, resumed
	@ninja -C build/release -j$(JOBS) amdahl amdahl-launch amdahl-checkpoint
	@tools/demo build/release

# Ninja runs CMake again by itself when a CMakeLists.txt changes; only presets need a push.
build/%/build.ninja: CMakePresets.json
	@mkdir -p build
	@echo "configure $*"
	@cmake --preset $* >build/$*-configure.log 2>&1 || { cat build/$*-configure.log; exit 1; }
	@touch $@
