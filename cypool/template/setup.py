from setuptools import setup

from cypool.build import extension

setup(ext_modules=[extension("my_env.my_env")])
