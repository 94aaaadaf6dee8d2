"""Prints what `.ci/sanitize NAME` runs: an expression for what pytest leaves out, and then a line for each path."""
import sys
from os.path import normpath

sys.path.insert(0, "tests")
from cases import CASES

FOUND = {family: cases.sanitizer for family, cases in CASES.items()
         if cases.sanitizer and cases.sanitizer.target == sys.argv[1]}
if not FOUND:
    sys.exit(f"{sys.argv[1]}: no record of a family has it as the target of its sanitizer")
# an expression needs at least one name
print(" or ".join(each.without for each in FOUND.values() if each.without) or "nothing_is_left_out")
print(*(normpath(f"tests/envs/{family}/{path}") for family, each in FOUND.items() for path in each.tests), sep="\n")
