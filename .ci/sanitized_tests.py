"""Prints what `.ci/sanitize NAME` runs: an expression for what pytest leaves out, and then a line for each path."""
import sys

from cypool.envs import FAMILIES

FOUND = [family.sanitizer for family in FAMILIES if family.sanitizer and family.sanitizer.target == sys.argv[1]]
if not FOUND:
    sys.exit(f"{sys.argv[1]}: no record of a family has it as the target of its sanitizer")
# an expression needs at least one name
print(" or ".join(each.without for each in FOUND if each.without) or "nothing_is_left_out")
print(*(f"tests/envs/{path}" for each in FOUND for path in each.tests), sep="\n")
