from Cython.Build import cythonize
from setuptools import Extension, setup

import cypool


def extension(name):
    return Extension(name, [name.replace(".", "/") + ".pyx"], include_dirs=[cypool.get_include()],
                     language="c++", extra_compile_args=["-std=c++20"])


setup(packages=["walker"],
      ext_modules=cythonize([extension("walker.walk"), extension("walker.trouble"), extension("walker.pretender")],
                            language_level=3))
