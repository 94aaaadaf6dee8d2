"""What concerns all libraries.

    pip install torch==2.13.0 && pip install ".[test,adapters]" && pytest tests/adapters
"""
import torch

# networks of this size gain nothing by a second thread, and results do not depend on the machine
torch.set_num_threads(1)


def pytest_configure(config):
    # what libraries have deprecated they use themselves
    config.addinivalue_line("filterwarnings", "ignore::DeprecationWarning")
    config.addinivalue_line("filterwarnings", "ignore::FutureWarning")
