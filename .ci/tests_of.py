"""Prints a line for each path of families' tests that a step of CI runs: those that a field of their cases names.

    .ci/tests_of.py engine_tests
    .ci/tests_of.py sanitizer NAME    those for a target, after an expression for those that pytest leaves out
"""
import sys
from os.path import normpath

sys.path.insert(0, "tests")
from cases import CASES

if sys.argv[1] == "sanitizer":
    found = {family: cases.sanitizer for family, cases in CASES.items()
             if cases.sanitizer and cases.sanitizer.target == sys.argv[2]}
    if not found:
        sys.exit(f"{sys.argv[2]}: no record of a family has it as the target of its sanitizer")
    # an expression needs at least one name
    print(" or ".join(each.without for each in found.values() if each.without) or "nothing_is_left_out")
    found = {family: each.tests for family, each in found.items()}
else:
    found = {family: getattr(cases, sys.argv[1]) for family, cases in CASES.items()}
print(*(normpath(f"tests/envs/{family}/{path}") for family, paths in found.items() for path in paths), sep="\n")
