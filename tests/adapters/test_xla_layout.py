"""Whether XLA's structs are as cypool/adapters/xla.h says, in the jaxlib that is installed."""
import os
import shlex
import sysconfig
from pathlib import Path

import jax
import pytest
from waiting import run_program

pytestmark = pytest.mark.large_packages

# ours, theirs, and the fields of both in order; "" for one that is not looked at
STRUCTS = [
    ("Extension", "Extension_Base", "size type next", "struct_size type next"),
    ("Version", "Api_Version", "size extension major minor", "struct_size extension_start major_version minor_version"),
    ("Metadata", "Metadata", "size version traits", "struct_size api_version traits"),
    ("MetadataExtension", "Metadata_Extension", "base metadata", "extension_base metadata"),
    ("ErrorArguments", "Error_Create_Args", "size extension message code", "struct_size extension_start message errc"),
    ("Api", "Api", "size extension version internal create_error",
     "struct_size extension_start api_version internal_api XLA_FFI_Error_Create"),
    ("Buffer", "Buffer", "size extension dtype data rank dims", "struct_size extension_start dtype data rank dims"),
    ("Scalar", "Scalar", "dtype value", "dtype value"),
    ("Values", "Args", "size extension count types values", "struct_size extension_start size types args"),
    ("Values", "Rets", "size extension count types values", "struct_size extension_start size types rets"),
    ("Attributes", "Attrs", "size extension count types names values",
     "struct_size extension_start size types names attrs"),
    ("Frame", "CallFrame", "size extension api context stage arguments results attributes",
     "struct_size extension_start api ctx stage args rets attrs"),
]
NUMBERS = [
    ("MAJOR", "API_MAJOR"), ("METADATA", "Extension_Metadata"), ("EXECUTE", "ExecutionStage_EXECUTE"),
    ("BUFFER", "ArgType_BUFFER"), ("BUFFER", "RetType_BUFFER"), ("SCALAR", "AttrType_SCALAR"),
    ("INTERNAL", "Error_Code_INTERNAL"), ("METADATA_SIZE", "Metadata_STRUCT_SIZE"),
    ("ERROR_ARGUMENTS_SIZE", "Error_Create_Args_STRUCT_SIZE"), ("sizeof(Buffer)", "Buffer_STRUCT_SIZE"),
    ("sizeof(Values)", "Args_STRUCT_SIZE"), ("sizeof(Values)", "Rets_STRUCT_SIZE"),
    ("sizeof(Attributes)", "Attrs_STRUCT_SIZE"), ("sizeof(Version)", "Api_Version_STRUCT_SIZE"),
    ("PRED", "DataType_PRED"), ("S32", "DataType_S32"), ("S64", "DataType_S64"), ("F64", "DataType_F64"),
    # the dtypes in between
    *((f"PRED + {k}", f"DataType_{name}") for k, name in enumerate(
        ["PRED", "S8", "S16", "S32", "S64", "U8", "U16", "U32", "U64", "F16", "F32", "F64"])),
]


def remarks(folder, header):
    """Returns the compiler's output for `header` together with jaxlib's."""
    lines = ['#include "xla/ffi/api/c_api.h"', '#include "ours.h"', "using namespace cypool::xla;"]
    for ours, theirs, *fields in STRUCTS:
        for one, other in zip(*map(str.split, fields), strict=True):
            lines.append(f"static_assert(offsetof({ours}, {one}) == offsetof(XLA_FFI_{theirs}, {other}));")
            lines.append(f"static_assert(sizeof({ours}::{one}) == sizeof(XLA_FFI_{theirs}::{other}));")
    for ours, theirs in NUMBERS:
        lines.append(f"static_assert(static_cast<size_t>({ours}) == static_cast<size_t>(XLA_FFI_{theirs}));")
    lines.append("static_assert(sizeof(Frame) == XLA_FFI_CallFrame_STRUCT_SIZE);")
    (folder / "ours.h").write_text(header)
    (folder / "both.cpp").write_text("\n".join(lines) + "\n")
    compiler = shlex.split(os.environ.get("CXX") or sysconfig.get_config_var("CXX"))
    return run_program(*compiler, "-std=c++20", "-fsyntax-only", "-Winvalid-offsetof", "-I", folder,
                       "-I", jax.ffi.include_dir(), folder / "both.cpp").stderr


def test_same_layout(tmp_path):
    header = Path(__file__).resolve().parents[2].joinpath("cypool/adapters/xla.h").read_text()
    assert not remarks(tmp_path, header)
    # and a difference is seen
    for old, new in [("int32_t major;\n    int32_t minor;", "int32_t minor;\n    int32_t major;"),
                     ("SCALAR = 3", "SCALAR = 4"), ("int64_t rank", "int32_t rank")]:
        assert old in header and "static assertion" in remarks(tmp_path, header.replace(old, new))
