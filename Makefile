# short names for the commands of CONTRIBUTING.md; for an active virtual environment with cypool's sources compiled in place
.PHONY: build test test-all lint format types stubs bench budget docs site wheels sanitize

build:
	python setup.py --quiet build_ext --inplace

# the tests of the README's command
test:
	pytest

# all tests, which need what CONTRIBUTING.md installs for them
test-all:
	pytest -m ""

lint:
	ruff check .
	cython-lint cypool tests/plugin
	git ls-files '*.h' '*.cpp' | xargs clang-format --dry-run -Werror

# C++ has a formatter; Python and Cython are written by hand
format:
	git ls-files '*.h' '*.cpp' | xargs clang-format -i
	ruff check --fix .

types:
	.ci/stubs --check
	mypy

# writes the stubs of the compiled modules
stubs:
	.ci/stubs

bench:
	python benchmark.py

# the lines of each folder
budget:
	.ci/budget

# the examples and links in the documentation
docs:
	pytest tests/docs

# the documentation, in build/site; needs pip install ".[docs]"
site:
	python docs_tools/build_site.py

# wheels for every Python from 3.11 on that is here with its headers, each of them tried; in dist/
wheels:
	.ci/wheel dist $$(.ci/pythons)

sanitize:
	.ci/sanitize thread
	.ci/sanitize address
