# Every target sets up what it needs in .venv; a machine needs Python 3.11 and make.
PYTHON ?= $(firstword $(shell command -v python3.11) $(shell command -v python3))
NAME ?= nDCG
SPACE ?= user/$(NAME)
MINUTES ?= 10
OLDEST_PYTHON ?= python3.11
NEWEST_PYTHON ?= python3.13
BIN := .venv/bin
# so that the processes of the tests share compiled sources
unexport PYTHONDONTWRITEBYTECODE
# a shared cache, since all targets import the same libraries
MYPY = $(CURDIR)/$(BIN)/mypy --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.mypy_cache
# Processes that keep two cores busy: three, because tests often wait for the browser or Spark; two without these. More
# than one thread of PyTorch per process would only wait for the others.
PROCESSES = 3
test: PROCESSES = 2
PYTEST = HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(<D)/bin/python -m pytest -n $(PROCESSES) --dist loadgroup

.DEFAULT_GOAL := help
.PHONY: help demo cli test test-all test-oldest test-newest fuzz faults messages late-answers types check bundle bench bench-scale gpu agreement simulations explanations vectors conformance app space release publish clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/demo.done ## score real rankings: scikit-learn's digits and films from MovieLens
	@$(BIN)/python examples/image_search.py
	@PYTHONPATH=.venv/movielens $(BIN)/python examples/movies.py

cli: .venv/cli.done ## run the command line: make cli ARGS="score QRELS RUN -m nDCG@10"
	@$(BIN)/ndcg $(ARGS)

test: .venv/test.done ## run the tests, without slow ones, other libraries, Spark, the browser and trainings: 3 minutes on two cores
	@$(PYTEST) -m "not (slow or peers or spark or browser or training)"

test-oldest: .venv-oldest/gate.done ## run all tests on Python 3.11 with the oldest libraries that pyproject.toml allows
	@$(PYTEST)

test-newest: .venv-newest/gate.done ## run all tests on Python 3.13 with the newest libraries, without PyTorch
	@$(PYTEST)

fuzz: .venv/test.done ## score random rankings in every format, and files, for MINUTES=10 each, next to a slow reference
	@HF_HUB_OFFLINE=1 FUZZ_MINUTES=$(MINUTES) $(BIN)/python -m pytest -q -s tests/*/test_fuzz*.py

faults: .venv/test.done ## put faults into the package, which the tests must catch: 15 minutes
	@HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(BIN)/python scripts/faults.py $(ARGS)

messages: .venv/test.done ## write the sentences of errors and warnings into tests/errors/messages.txt, whose diff shows what changed; those of Spark with ARGS=--spark
	@HF_HUB_OFFLINE=1 PYTHONPATH=tests:tests/errors $(BIN)/python tests/errors/table.py $(ARGS)

late-answers: .venv/check.done ## test the page in a browser with answers up to 2 seconds late, in any order: 8 minutes
	@LATE_ANSWERS=1000 $(PYTEST) tests/browser

check: .venv/check.done ## the gate: lint, format, types, all tests: 7 minutes on two cores
	$(BIN)/python scripts/bundle.py --check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(MAKE) --no-print-directory --jobs 2 types test-all \
		|| { echo "types or tests failed; mypy prints its errors while the first tests run" >&2; exit 1; }

types: .venv/check.done ## check the types
	$(MYPY) -p ndcg
	$(MYPY) app.py page scripts
	cd conformance && $(MYPY) *.py
	cd conformance/runners && $(MYPY) *.py

test-all: .venv/check.done ## run all tests
	$(PYTEST)

bundle: .venv/bin/python ## write ndcg.py and ndcg_bundle.py, which evaluate loads, from the package
	@$(BIN)/python scripts/bundle.py

bench: .venv/bench.done ## measure speed and memory beside other libraries, into benchmarks/RESULTS.md: 20 to 40 minutes
	@HF_HUB_OFFLINE=1 $(BIN)/python benchmarks/bench.py $(ARGS)

bench-scale: .venv/bench.done ## score 500 million values in batches, and 20 million rows on Spark, into benchmarks/SCALE.md
	@HF_HUB_OFFLINE=1 $(BIN)/python benchmarks/scale.py

gpu: .venv/bench.done ## score tensors on a GPU beside the CPU and other libraries; needs CUDA or ROCm: 2 minutes
	@HF_HUB_OFFLINE=1 $(BIN)/python benchmarks/gpu.py $(ARGS)

agreement: .venv/check.done .venv/libraries/site-packages ## run each library beside its convention, into benchmarks/AGREEMENT.md
	@HF_HUB_OFFLINE=1 PYTHONPATH=tests:tests/conformance:.venv/movielens $(BIN)/python benchmarks/agreement.py

simulations: .venv/test.done ## measure how often intervals hold and the gate fails, into benchmarks/SIMULATIONS.md: 10 to 12 minutes
	@OMP_NUM_THREADS=1 $(BIN)/python benchmarks/simulations.py
	@HF_HUB_OFFLINE=1 $(BIN)/python benchmarks/statistics_plots.py

explanations: .venv/test.done ## measure how well explain tells options apart, into benchmarks/EXPLANATIONS.md: 15 minutes
	@$(BIN)/python benchmarks/explanations.py

vectors: .venv/bin/python ## rewrite conformance/vectors.json after a change of conventions.py or of the cases
	@$(BIN)/python conformance/make_vectors.py ndcg/measure/conventions.py

conformance: .venv/bench.done ## run libraries and slips against the conformance kit, into the tables of its README
	@rm -rf build/package
	@$(BIN)/python -m pip install --quiet --no-deps --target build/package .
	@PYTHONPATH=build/package $(BIN)/python conformance/runners/run.py --write conformance/README.md
	@PYTHONPATH=build/package $(BIN)/python conformance/runners/wrong.py --write conformance/README.md

app: .venv/app.done ## open the Space's page on http://127.0.0.1:7860
	@$(BIN)/python app.py

space: ## build the tree of a Hub Space in dist/space: make space NAME=nDCG
	rm -rf dist/space
	mkdir -p dist/space/benchmarks dist/space/conformance/runners dist/space/docs/images dist/space/examples
	mkdir -p dist/space/page
	cp README.md CONTRIBUTING.md requirements.txt LICENSE ndcg_bundle.py app.py dist/space
	cp page/*.py dist/space/page
	cp -r page/samples page/static page/templates dist/space/page
	cp benchmarks/*.md benchmarks/*.png dist/space/benchmarks
	cp conformance/*.* dist/space/conformance
	cp conformance/runners/*.py dist/space/conformance/runners
	cp docs/*.md dist/space/docs
	cp docs/images/*.webp dist/space/docs/images
	cp examples/*.* dist/space/examples
	cp ndcg.py dist/space/$(NAME).py

release: .venv-release/release.done ## build, check and install the sdist and the wheel, and print what to upload
	@$(<D)/bin/python scripts/release.py $(ARGS)

publish: .venv/demo.done ## upload the Space: make publish SPACE=user/nDCG; ARGS=--dry-run lists the files
	@$(MAKE) --no-print-directory space NAME=$(notdir $(SPACE))
	@$(BIN)/python scripts/publish.py $(ARGS) $(SPACE)

clean: ## remove everything that the targets made
	rm -rf .venv .venv-oldest .venv-newest .venv-release dist build *.egg-info

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/%.done: pyproject.toml requirements.txt | .venv/bin/python
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[$*]"
	@touch $@

# MovieLens is in RecBole's wheel. It goes into a separate folder, so that pip does not install RecBole's dependencies.
demo test test-all test-oldest test-newest agreement: .venv/movielens
.venv/movielens: | .venv/bin/python
	$(BIN)/python -m pip install --quiet --no-deps --target $@ recbole==1.2.1

# Libraries whose requirements clash with those of others go into a separate folder. It is called site-packages, because
# Hypothesis reads all modules outside one for constants.
test-all: .venv/libraries/site-packages
.venv/libraries/site-packages: tests/conformance/libraries.txt | .venv/bin/python
	rm -rf $(@D)
	$(BIN)/python -m pip install --quiet --quiet --no-deps --no-compile --target $@ --requirement $<
	@touch $@

# pin each library of the project to its lower bound
.venv-oldest/gate.done: pyproject.toml
	$(OLDEST_PYTHON) -m venv .venv-oldest
	sed '/^\[project/,/^\[tool/!d' pyproject.toml | grep -oE '"[A-Za-z_-]+(\[[a-z]+\])?>=[0-9.]+' \
		| sed -E 's/"|\[.*\]//g; s/>=/==/' > .venv-oldest/pins.txt
	.venv-oldest/bin/python -m pip install --quiet --constraint .venv-oldest/pins.txt ".[gate]"
	@touch $@

.venv-newest/gate.done: pyproject.toml
	$(NEWEST_PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager ".[gate-without-torch]"
	@touch $@

# a separate environment, because a dependency of twine hides one of LensKit's
.venv-release/release.done: pyproject.toml
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet ".[release]"
	@touch $@
