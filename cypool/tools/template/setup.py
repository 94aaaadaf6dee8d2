from setuptools import setup

from cypool.tools.compile import extension

setup(ext_modules=[extension("my_env.my_env")])
