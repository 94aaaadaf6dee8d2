from Cython.Build import cythonize
from setuptools import Extension, setup

import cypool


def extension(name):
    return Extension(name, [name.replace(".", "/") + ".pyx"], include_dirs=[cypool.get_include()],
                     language="c++", extra_compile_args=["-std=c++20"])


setup(packages=["walker"],
      ext_modules=cythonize([extension(f"walker.{name}") for name in ("walk", "trouble", "pretender", "draws")],
                            language_level=3))
