"""How cypool is compiled. Imported by setup.py; never installed.

    backend --> wheel_cache (sources -> wheel)
       |
    setup.py --> commands --> cythonize (.pyx -> .cpp) --+--> toolchain (.cpp -> .o -> .so) --> headers
                    |            parts                   |         |
                    +-------> library --> sdist          |       cache (content -> file)
             (envs/*/build.py)  (download) -+

| module | purpose |
| --- | --- |
| `backend` | the build backend: setuptools', unless the cache has the wheel |
| `wheel_cache` | whole wheels, under the hash of their sources and of the compiler |
| `commands` | the setuptools commands; joins everything below |
| `cythonize` | runs Cython, in as many processes as there are jobs |
| `parts` | the files that a module includes, whose names must not clash |
| `toolchain` | runs the C++ compiler and linker: flags, jobs, error messages |
| `headers` | digests the files that a source includes |
| `report` | adds up CPU time by package, for build/report.txt |
| `common.h` | the common beginning of all modules' C++, compiled once |
| `library` | native libraries, as a `build.py` declares them, and how one becomes an archive to link |
| `sdist` | finds a pinned source distribution: given, cached, or through pip's own settings |
| `distributions` | splits a wheel in two, for those that are passed on: ALE apart, each with its licences |
| `cache` | files kept under the hash of their sources, by cypool/util/cache.py |

| environment variable | effect |
| --- | --- |
| `CYPOOL_DEBUG=1` | bounds checks, line tracing, asserts, no optimization |
| `CYPOOL_CFLAGS` | further flags for compiler and linker, such as `-fsanitize=thread -g` |
| `CYPOOL_..._SOURCE` | as a `build.py` names it: the library's sdist, or its folder, not a download |
| `CYPOOL_CACHE` | where the cache is; it may be deleted at any time |
| `CYPOOL_JOBS` | how many compilers run at once |

`CXX`, `CPPFLAGS`, `CXXFLAGS`, `LDFLAGS`, `AR`, `NM`, `OBJCOPY` and pip's `PIP_*` keep their usual meaning,
except that `-std=` has none: the sources say which C++ they are.
"""
