"""Box2D's sources, as they are compiled."""
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def test_box2d_is_pinned_and_makes_one_unit(build_tools, tmp_path):
    """Under the name that its file has; without the counters and clocks that threads would share."""
    box2d = build_tools.library.declared_in(ROOT / "cypool/envs/box2d")
    assert box2d.sdist.filename == "box2d-py-2.3.8.tar.gz"
    for path in box2d.private_include_dirs:
        assert (ROOT / path / "Python.h").is_file()
    (tmp_path / "Box2D").mkdir()
    (tmp_path / "Box2D" / "b2Distance.cpp").write_text("int32 b2_gjkCalls, b2_gjkIters;\nint kept;\n\t++b2_gjkCalls;\n")
    (tmp_path / "Box2D" / "b2Timer.cpp").write_text("gettimeofday")
    (tmp_path / "Box2D" / "b2StackAllocator.cpp").write_text("{\n\tb2Assert(p == entry->data);\n}\n")
    box2d.generate(tmp_path, tmp_path)
    text = (tmp_path / "box2d.cpp").read_text()
    assert "int kept;" in text and "gjk" not in text and "gettimeofday" not in text
    assert "b2Assert" not in text and "return Free(p);" in text
    (tmp_path / "Box2D" / "b2StackAllocator.cpp").write_text("{\n}\n")
    with pytest.raises(ValueError, match="StackAllocator.cpp: expected"):
        box2d.generate(tmp_path, tmp_path)
