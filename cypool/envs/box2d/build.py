"""Box2D's C++, as pybox2d patched it, compiled from the sdist of box2d-py without SWIG and without Python.

The box2d wheels that Gymnasium uses contain the same engine.
"""

import re

from build_tools.library import SourceLibrary
from build_tools.sdist import Sdist

# written by all worlds, never read: counters that threads would race for, and the clock behind them
STATISTICS = re.compile(
    r"^\s*(int32 b2_|float32 b2_|\+\+b2_|b2_)(gjk|toi)(\w*Calls|\w*Iters|\w*Time)\b.*;\n"
    r"|^\s*b2Timer timer;\n|^\s*float32 time = timer.*;\n", re.MULTILINE)

# profiles that are not used, a dozen calls of the clock in each step
NO_CLOCK = """
#include <Box2D/Common/b2Timer.h>
b2Timer::b2Timer() {}
void b2Timer::Reset() {}
float32 b2Timer::GetMilliseconds() const { return 0; }
"""

# the loop of b2Island::Solve that takes most of a step, and ours
ITERATIONS = """
	for (int32 i = 0; i < step.velocityIterations; ++i)
	{
		for (int32 j = 0; j < m_jointCount; ++j)
		{
			m_joints[j]->SolveVelocityConstraints(solverData);
		}

		contactSolver.SolveVelocityConstraints();
	}
"""
OUR_ITERATIONS = """
	RevoluteSolver joints(m_joints, m_jointCount, m_bodyCount, solverData);
	if (m_contactCount == 0)
		joints.solve_all(step.velocityIterations);
	else
		for (int32 i = 0; i < step.velocityIterations; ++i)
		{
			joints.solve_once();
			contactSolver.SolveVelocityConstraints();
		}
	joints.store();
"""

# an assertion in an island's solver leaves memory on the world's stack, above that of the island: its destructor, from
# which no exception can come, frees this first
ASSERTED = "\tb2Assert(p == entry->data);\n"
FREED = """
	if (p != entry->data)
	{
		Free(entry->data);
		return Free(p);
	}
"""

HEADERS = """
#include <Box2D/Box2D.h>
#include <Box2D/Dynamics/b2TimeStep.h>
#include "revolute_solver.h"
"""


REPLACED = {"b2Island.cpp": (ITERATIONS, OUR_ITERATIONS), "b2StackAllocator.cpp": (ASSERTED, FREED)}


def _one_unit(unpacked, folder):
    """Writes all of Box2D to one file, which compiles in a third of the time of 44 files."""
    texts = [HEADERS]
    for path in sorted((unpacked / "Box2D").rglob("*.cpp")):
        text = path.read_text()
        if path.name in ("b2Distance.cpp", "b2TimeOfImpact.cpp"):
            text = STATISTICS.sub("", text)
        for name, (old, new) in REPLACED.items():
            if path.name == name:
                if text.count(old) != 1:
                    raise ValueError(f"{path}: expected the file from Box2D 2.3.8, found one without {old!r}")
                text = text.replace(old, new)
        texts.append(NO_CLOCK if path.name == "b2Timer.cpp" else text)
    (folder / "box2d.cpp").write_text("\n".join(texts))


LIBRARY = SourceLibrary(
    family="box2d",
    licence="Zlib",
    licence_file="LICENSE",
    sdist=Sdist(
        project="box2d-py",
        version="2.3.8",
        sha256="bdacfbbc56079bb317548efe49d3d5a86646885cc27f4a2ee97e4b2960921ab7",
        variable="CYPOOL_BOX2D_SOURCE",
        version_file="PKG-INFO",
        name="box2d-py",
    ),
    root="Box2D",
    sources=(),
    generated_sources=("box2d.cpp",),
    include_dirs=(".",),
    private_include_dirs=("cypool/envs/box2d/library",),
    # O3 and fwrapv as the wheels of box2d are compiled; vectors of two only lengthen the chain of operations
    flags=("-std=c++17", "-O3", "-g0", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-ffp-contract=off", "-fwrapv",
           "-fno-tree-slp-vectorize", "-fno-access-control", "-w"),
    # saving a world reads and writes private members of its classes
    flags_for_users=("-fno-access-control",),
    generate=_one_unit,
)
