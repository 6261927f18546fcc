"""Amdahl from Python.

Inside a trainer: ``from amdahl import job`` and then ``job.step(n)``. Standard library only.
"""

from amdahl import job

__all__ = ["job"]
__version__ = "0.1.0"
