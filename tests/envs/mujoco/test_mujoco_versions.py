"""One build serves every MuJoCo: layouts of structs, and errors for versions that will not do."""
import ctypes
import re
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from cypool.envs.shared.mujoco import layout
from cypool.envs.shared.packages import mujoco_version

# something of most kinds, so that few arrays are empty
XML = """<mujoco><asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="0 0 0 1"/><material name="m"/>
</asset><worldbody><light name="l"/><camera name="c"/><geom type="plane" size="1 1 1"/><geom type="hfield" hfield="h"/>
<body mocap="true"><geom size=".1"/></body><body name="b" pos="0 0 1"><freejoint name="f"/><geom size=".1"/>
<site name="s"/><body><joint name="j" axis="0 1 0" limited="true" range="-1 1"/><geom size=".1"/><site name="t"/></body>
</body></worldbody><tendon><spatial name="t"><site site="s"/><site site="t"/></spatial></tendon>
<equality><joint joint1="j"/></equality><actuator><motor joint="j" ctrllimited="true" ctrlrange="-1 1"/></actuator>
<sensor><gyro site="s"/></sensor><keyframe><key/></keyframe></mujoco>"""


@pytest.fixture(scope="module")
def found():
    return layout.read(mujoco_version.find()[0])


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Makes a package `mujoco` that only has libraries of some versions, and puts it first."""
    def make(*versions):
        (tmp_path / "mujoco").mkdir()
        (tmp_path / "mujoco" / "__init__.py").touch()
        for version in versions:
            (tmp_path / "mujoco" / f"libmujoco.so.{version}").touch()
        monkeypatch.setattr(mujoco_version, "folder_of", lambda name: str(tmp_path / name))
        return tmp_path / "mujoco"
    return make


def test_arrays_of_a_layout_are_where_the_bindings_have_them(found):
    m = mujoco.MjModel.from_xml_string(XML)
    d = mujoco.MjData(m)
    compared = 0
    for struct, view in (("mjModel", m), ("mjData", d)):
        for name in found.arrays:
            field = name.partition(".")[2]
            array = getattr(view, field, None)
            if not name.startswith(f"{struct}.") or not isinstance(array, np.ndarray) or array.size == 0:
                continue
            place, shape = found.fields[name], found.arrays[name]
            assert ctypes.c_void_p.from_address(view._address + place.offset).value == array.ctypes.data, name
            assert place.item == array.itemsize, name
            rows, columns = (getattr(m, size) if size else 1 for size in (shape.rows, shape.columns))
            assert rows * columns * shape.factor == array.size, name
            compared += 1
    assert compared > 300


def test_sizes_of_a_layout_are_those_of_the_bindings(found):
    m = mujoco.MjModel.from_xml_string(XML)
    names = [name for name in found.fields
             if name.startswith("mjModel.n") and isinstance(getattr(m, name[8:], None), int)]
    for name in names:
        place = found.fields[name]
        number = ctypes.c_int32 if place.size == 4 else ctypes.c_int64
        assert number.from_address(m._address + place.offset).value == getattr(m, name[8:]), name
    assert len(names) > 60


def test_options_of_a_layout_are_those_of_the_bindings(found):
    m = mujoco.MjModel.from_xml_string('<mujoco><option timestep="0.125" gravity="1 2 3" integrator="RK4"/></mujoco>')
    d = mujoco.MjData(m)
    d.time = 1.25

    def get(kind, address, name):
        return kind.from_address(address + found.fields[name].offset).value

    assert get(ctypes.c_double, m._address, "mjModel.opt.timestep") == 0.125
    assert get(ctypes.c_int, m._address, "mjModel.opt.integrator") == int(mujoco.mjtIntegrator.mjINT_RK4)
    assert get(ctypes.c_int, m._address, "mjModel.vis.global.offwidth") == m.vis.global_.offwidth
    assert get(ctypes.c_double, m._address, "mjModel.stat.extent") == m.stat.extent
    assert get(ctypes.c_double, d._address, "mjData.time") == 1.25


def test_a_layout_is_computed_without_importing_mujoco(run_python):
    done = run_python("""
import sys
from cypool.envs.shared.packages import mujoco_version
import importlib.util
spec = importlib.util.find_spec("cypool.envs.shared.packages.mujoco_version")
folder, version = mujoco_version.find()
path = spec.origin.replace("packages/mujoco_version", "mujoco/layout")
spec = importlib.util.spec_from_file_location("layout", path)
layout = importlib.util.module_from_spec(spec)
sys.modules["layout"] = layout
spec.loader.exec_module(layout)
print(len(layout.read(folder).arrays) > 400, "mujoco" in sys.modules)
""")
    assert done.stdout == "True False\n" and done.stderr == ""


def test_a_version_without_a_library_is_an_import_error(package):
    folder = package()
    with pytest.raises(ImportError, match=r"expected mujoco 3\.3\.0 to 4\.0\.1, found "
                                          f'{re.escape(str(folder))} without its library: pip install "mujoco>=3.3.0,'):
        mujoco_version.find()


def test_no_mujoco_is_an_import_error(monkeypatch):
    monkeypatch.setattr(mujoco_version, "folder_of", lambda name: None)
    with pytest.raises(ImportError, match=r"expected mujoco 3\.3\.0 to 4\.0\.1, found none: pip install") as raised:
        mujoco_version.find()
    assert raised.value.name == "mujoco"


@pytest.mark.parametrize("version, message", [
    ("2.3.7", r"expected mujoco 3\.3\.0 or later, found 2\.3\.7: pip install"),
    ("3.2.7", r"expected mujoco 3\.3\.0 or later, found 3\.2\.7: pip install"),
    ("4.0.0", r"mujoco 4\.0\.0 incorrectly factorizes a matrix in its Newton solver, which 4\.0\.1 fixes: pip "
     r'uninstall -y mujoco mujoco-core mujoco-studio && pip install "mujoco>=3\.3\.0,!=4\.0\.0,<4\.1"$'),
])
def test_a_version_that_will_not_do_is_an_import_error(package, version, message):
    package(version)
    with pytest.raises(ImportError, match=message):
        mujoco_version.find()


def test_two_libraries_are_an_import_error(package):
    package("3.17.0", "4.0.1")
    with pytest.raises(ImportError, match=r"expected one library, found libmujoco\.so\.3\.17\.0 and "
                                          r"libmujoco\.so\.4\.0\.1 in .*: pip uninstall -y mujoco mujoco-core "
                                          r"mujoco-studio && pip install"):
        mujoco_version.find()


def test_a_version_that_was_not_compared_is_one_warning(package):
    package("4.9.0")
    folder, version = mujoco_version.find()
    assert version == "4.9.0"
    with pytest.warns(UserWarning, match=r"^mujoco 4\.9\.0 has not been compared with the reference packages; "
                                         r"3\.3\.0, 3\.3\.7, .*, 4\.0\.1 have been$") as warned:
        mujoco_version.warn_of(version)
    assert len(warned) == 1


@pytest.mark.parametrize("change, message", [
    ("found.fields.pop('mjData.qpos')", "which has no mjData.qpos; cypool was made for"),
    ("found.numbers.pop('mjNEQDATA')", "which has no mjNEQDATA; cypool was made for"),
    ("found.numbers.update(mjOBJ_GEOM=6)", "which has a different mjOBJ_GEOM; cypool was made for"),
    ("found.fields.update({'mjData.qpos': found.fields['mjModel.geom_rgba']})",
     "which has a different type for mjData.qpos; cypool was made for"),
    ("found.fields.update({'mjvCamera.lookat': found.fields['mjvCamera.distance']})",
     "which has a different offset for mjvCamera.lookat; cypool was made for"),
    ("found.sizes.update(mjvOption=1000)", "which has a larger mjvOption; cypool was made for"),
    ("None + 1", "to describe its structs as 4.0.1 does, got TypeError"),
])
def test_a_version_that_lacks_something_is_an_import_error(run_forked, change, message):
    done = run_forked(f"""
import importlib.util, sys
import cypool.envs
# what the package runs first, before its own import
spec = importlib.util.find_spec("cypool.envs.shared.packages.mujoco_version")
path = spec.origin.replace("packages/mujoco_version", "mujoco/layout")
name = "cypool.envs.shared.mujoco.layout"
spec = importlib.util.spec_from_file_location(name, path)
layout = sys.modules[name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(layout)
read = layout.read
def changed(folder):
    found = read(folder)
    {change}
    return found
layout.read = changed
try:
    import cypool.envs.shared.mujoco
except ImportError as error:
    print(error)
""")
    assert message in done.stdout and done.stderr == ""


def test_another_mujoco_that_was_imported_before_is_an_import_error(run_forked):
    done = run_forked("""
import mujoco
mujoco.__version__ = "3.3.1"
try:
    import cypool.envs.shared.mujoco
except ImportError as error:
    print(error)
""")
    assert "got 3.3.1 from " in done.stdout and "a process can only use one version" in done.stdout


def test_the_folder_is_that_of_the_package():
    assert mujoco_version.find()[0] == Path(sys.modules["mujoco"].__file__).parent
