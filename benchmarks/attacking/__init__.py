"""The parts of ``benchmarks/attack.py``: each attacks one door and counts what got through."""
