"""The stand-in for zlib that ALE is compiled with."""
import ctypes
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_zlib_stand_in_reads_plain_files(build_tools, tmp_path):
    (tmp_path / "plain").write_bytes(bytes(range(100)))
    (tmp_path / "packed").write_bytes(b"\x1f\x8b\x08")
    (tmp_path / "main.cpp").write_text("""
        #include <zlib.h>
        extern "C" int PyInit_size(const char* path) {
            unsigned char data[200];
            gzFile file = gzopen(path, "rb");
            if (!file) return -1;
            int size = gzread(file, data, sizeof data);
            return gzclose(file) == Z_OK && (size == 0 || data[size - 1] == size - 1) ? size : -2;
        }""")
    unit = build_tools.toolchain.Unit(tmp_path / "main.cpp", ("-fPIC",), (ROOT / "cypool/envs/atari/library",))
    build_tools.toolchain.link([build_tools.toolchain.compile_unit(unit)[0]], tmp_path / "size.so")
    size = ctypes.CDLL(str(tmp_path / "size.so")).PyInit_size
    assert [size(str(tmp_path / name).encode()) for name in ("plain", "packed", "missing")] == [100, -1, -1]
