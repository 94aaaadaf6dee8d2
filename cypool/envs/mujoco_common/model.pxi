# Models: what MuJoCo makes of an XML file.
import os
import weakref

import numpy as np

from cypool.util.arguments import shown
from cypool.util.warn import warn_caller
from cypool.envs.mujoco_common.assets import asset_path, check_asset, stamps_of

from libcpp.pair cimport pair
from libcpp.string cimport string
from libcpp.vector cimport vector

from cypool.envs.mujoco_common cimport guard, libmujoco

# those in use: by path, time and size of the file and of what it includes, by path and edit, or by the key that a text
# comes with
_models = weakref.WeakValueDictionary()
# the last one, until an environment has it: a pool is described before its environments are made. A name of Python's,
# as several threads may set it at once
_latest = None


cdef class Model:
    """See the `.pxd`. Only `load_model` and `load_model_text` make one.

    Threads: any number, it never changes.
    """

    def __dealloc__(self):
        if self.mj != NULL:
            libmujoco.mj_deleteModel(self.mj)

    cdef int named(self, int kind, object name) except -2:
        cdef bytes text
        # C's text would end at a zero
        if not isinstance(name, str) or "\0" in name:
            return -1
        try:
            text = name.encode()
        except UnicodeEncodeError:
            return -1
        return libmujoco.mj_name2id(self.mj, kind, text)

    cdef list names(self, int kind, int count):
        cdef const char* name
        cdef int k
        found = []
        for k in range(count):
            # some have none
            name = libmujoco.mj_id2name(self.mj, kind, k)
            if name != NULL:
                found.append((<bytes>name).decode(errors="replace"))
        return found

    cdef int find(self, int kind, str name) except -1:
        cdef int found = self.named(kind, name)
        if found < 0:
            raise ValueError(f"{self.path}: expected a model with a {libmujoco.mju_type2Str(kind).decode()} {name!r}")
        return found

    cdef int body(self, object name) except -1:
        cdef int found = self.named(libmujoco.mjOBJ_BODY, name)
        if isinstance(name, int) and 0 <= name < self.mj.nbody:
            found = name
        if found < 0:
            raise ValueError(f"xml_file: expected a robot with a body {shown(name)}, found none in {self.path}")
        return found

    cdef object control_range(self, double unlimited):
        cdef int k
        bounds = np.empty((2, self.mj.nu))
        for k in range(self.mj.nu):
            bounds[:, k] = -unlimited, unlimited
            if self.mj.actuator_ctrllimited[k]:
                bounds[:, k] = self.mj.actuator_ctrlrange[2 * k], self.mj.actuator_ctrlrange[2 * k + 1]
        return bounds


cdef Model load_model(object xml_file):
    """Returns the model of an XML file.

    Args:
        xml_file: A path that begins with ".", "/" or "~"; else the name of one of Gymnasium's files.

    Raises:
        TypeError: It is no string.
        ValueError: There is no such file, or MuJoCo cannot read it.
    """
    global _latest
    cdef Model model
    cdef string warning
    if not isinstance(xml_file, str):
        raise TypeError(f"xml_file: expected a str, got {shown(xml_file)}")
    is_own = xml_file[:1] in (".", "/", "~")
    path = os.path.expanduser(xml_file) if is_own else asset_path(xml_file)
    try:
        if is_own:
            key = stamps_of(os.path.abspath(path))
        else:
            status = os.stat(path)
            key = path, status.st_mtime_ns, status.st_size
    except OSError as error:
        raise ValueError(f"xml_file: {path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        # there is a zero in it, or something that no file can be called
        raise ValueError(f"xml_file: {shown(path)} cannot be read: {error}") from error
    model = _models.get(key)
    if model is None:
        model = Model()
        model.path = path
        if not is_own:
            check_asset(path)
        try:
            model.mj = guard.load_xml(os.fsencode(path), warning)
        except (ValueError, RuntimeError) as error:
            raise ValueError(f"xml_file: MuJoCo cannot read {path}: {error}") from None
        if is_own and warning.size() > 0:
            warn_caller(f"xml_file: MuJoCo says of {path}: {warning.decode()}")
        if model.mj.nu == 0 or model.mj.nv == 0:
            raise ValueError(f"xml_file: expected a robot with joints and actuators, found {model.mj.nv} degrees of "
                             f"freedom and {model.mj.nu} actuators in {path}")
        _models[key] = _latest = model
    return model


cdef Model load_edited(str path, Edit edit):
    """Returns the model of an XML file that comes with a package, the same as long as one is in use.

    Args:
        path: The file.
        edit: Changes it once, before anybody has it; NULL: nothing does.

    Raises:
        ValueError: MuJoCo cannot read it.
    """
    global _latest
    key = path, <size_t>edit
    cdef Model model = _models.get(key)
    cdef string warning
    if model is not None:
        return model
    model = Model()
    model.path = path
    try:
        model.mj = guard.load_xml(os.fsencode(path), warning)
    except (ValueError, RuntimeError) as error:
        raise ValueError(f"MuJoCo cannot read {path}: {error}") from None
    if edit != NULL:
        edit(model)
    _models[key] = _latest = model
    return model


cdef Model load_model_text(object key, str name, bytes text, dict files):
    """Returns the model of a text in MuJoCo's format, the same as long as one of that key is in use.

    Args:
        key: Of this text and these files.
        name: What messages call it.
        text: The XML.
        files: The bytes of each file that the text names.

    Raises:
        ValueError: MuJoCo cannot read it.
    """
    global _latest
    cdef Model model = _models.get(key)
    cdef vector[pair[string, string]] contents
    if model is not None:
        return model
    for file_name, content in files.items():
        contents.push_back(pair[string, string](<string>file_name.encode(), <string>content))
    model = Model()
    model.path = name
    try:
        model.mj = guard.load_xml_text(text, contents)
    except (ValueError, RuntimeError) as error:
        raise ValueError(f"MuJoCo cannot read the model of {name}: {error}") from None
    _models[key] = _latest = model
    return model


cdef int check_sizes(Model model, tuple sizes, str name) except -1:
    found = model.mj.nq, model.mj.nv, model.mj.nu, model.mj.nbody, model.mj.nsensordata
    if found == sizes:
        return 0
    differing = [(kind, *both) for kind, *both in zip(("nq", "nv", "nu", "nbody", "nsensordata"), sizes, found)
                 if both[0] != both[1]]
    expected, got = (", ".join(f"{each[0]} {each[k]}" for each in differing) for k in (1, 2))
    raise ValueError(f"{name}: expected the model of the package, with {expected}, got one with {got}: install the "
                     "package again")


cdef Model held(Model model):
    """Returns a model that an environment holds from now on."""
    global _latest
    if model is _latest:
        _latest = None
    return model
